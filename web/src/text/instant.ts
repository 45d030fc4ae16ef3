// Forms have dates and times of the organization's zone, the API has instants.

/** instantOf reads a local time such as "2026-11-22T14:05", on days of 23 and 25 hours, too. */
export function instantOf(local: string, timezone: string): Date {
  const wall = Date.parse(`${local}${local.length === 10 ? 'T00:00' : ''}Z`)
  // The zone's distance from UTC, looked up at about the instant; a change of it near by needs the second look.
  const first = wall - distance(wall, timezone)
  return new Date(wall - distance(first, timezone))
}

/** localOf writes an instant as forms have it, to the minute. */
export function localOf(at: number, timezone: string): string {
  return new Date(at + distance(at, timezone)).toISOString().slice(0, 16)
}

/** dayAfter gives the date that is some days later. */
export function dayAfter(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

function distance(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  const part = Object.fromEntries(format.formatToParts(at).map((p) => [p.type, Number(p.value)]))
  const local = Date.UTC(part.year ?? 0, (part.month ?? 1) - 1, part.day, part.hour, part.minute, part.second)
  return local - Math.floor(at / 1000) * 1000
}

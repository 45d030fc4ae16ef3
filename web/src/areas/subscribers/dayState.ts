import type { Shape } from '../../api/types'

/** Day is how one day of a customer was. */
export type Day = Shape<'DayResponse'>

/** endOfDay is the instant at which a date of a zone ends, on days of 23 and 25 hours, too. */
export function endOfDay(date: string, timezone: string): Date {
  const [year, month, day] = date.split('-').map(Number)
  const midnight = Date.UTC(year ?? 0, (month ?? 1) - 1, (day ?? 1) + 1)
  // The zone's distance from UTC, looked up where the day ends; a change near midnight needs the second look.
  const first = midnight - distance(midnight, timezone)
  return new Date(midnight - distance(first, timezone))
}

function distance(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit',
  })
  const part = Object.fromEntries(format.formatToParts(at).map((p) => [p.type, Number(p.value)]))
  return Date.UTC(part.year ?? 0, (part.month ?? 1) - 1, part.day, part.hour, part.minute, part.second) - at
}

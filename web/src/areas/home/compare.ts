/** Comparison says how an amount stands to an earlier one. */
type Comparison = { kind: 'more' | 'less'; part: number } | { kind: 'same' | 'none' | 'only' }

/** compare says how an amount stands to an earlier one; differences below half a percent are none. */
export function compare(now: number, before: number): Comparison {
  if (now === 0 && before === 0) return { kind: 'none' }
  if (before <= 0) return { kind: 'only' }
  const part = (now - before) / before
  if (Math.abs(part) < 0.005) return { kind: 'same' }
  return { kind: part > 0 ? 'more' : 'less', part: Math.abs(part) }
}

/** firstOfMonth is the first day of a date's month. */
export const firstOfMonth = (date: string) => `${date.slice(0, 8)}01`

/** daysBefore gives the date so many days before another. */
export function daysBefore(date: string, days: number): string {
  const at = new Date(`${date}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() - days)
  return at.toISOString().slice(0, 10)
}

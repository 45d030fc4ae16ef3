/** Span is a run of local days, both included, as the API writes dates. */
export interface Span {
  from: string
  to: string
}

export type Preset = 'today' | 'week' | 'month' | 'lastMonth'

/** presets gives the usual spans that end today, or with the last month; a week begins on Monday. */
export function presets(today: string): Record<Preset, Span> {
  const [year, month, day] = today.split('-').map(Number) as [number, number, number]
  const weekday = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7
  return {
    today: { from: today, to: today },
    week: { from: written(year, month, day - weekday), to: today },
    month: { from: written(year, month, 1), to: today },
    lastMonth: { from: written(year, month - 1, 1), to: written(year, month, 0) },
  }
}

/** written writes a date; days and months outside of their range are those of the neighbours. */
function written(year: number, month: number, day: number): string {
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
}

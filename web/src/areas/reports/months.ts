/** Days is a run of local days, both included, as the API writes dates. */
export interface Days {
  from: string
  to: string
}

export type Preset = 'month' | 'lastMonth' | 'year'

/** presets gives the usual spans of months: the present one, the last one, and twelve of them with the present one. */
export function presets(today: string): Record<Preset, Days> {
  const [year, month] = today.split('-').map(Number) as [number, number]
  return {
    month: { from: written(year, month, 1), to: today },
    lastMonth: { from: written(year, month - 1, 1), to: written(year, month, 0) },
    year: { from: written(year, month - 11, 1), to: today },
  }
}

/** isRunning reports whether the month that some days begin in is the present one, of which today is not over either. */
export function isRunning(days: Days, today: string): boolean {
  return days.from.slice(0, 7) === today.slice(0, 7)
}

/** written writes a date; days and months outside of their range are those of the neighbours. */
function written(year: number, month: number, day: number): string {
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
}

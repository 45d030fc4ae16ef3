// How recorded values are read: what is hidden, what is money, and which fields a state has.

/** Line is one field of a state, or one that changed. */
export interface Line {
  field: string
  value: unknown
}

/** hiddenIn gives why a value is not shown; null when it is. */
export function hiddenIn(value: unknown): string | null {
  const of = value as { hidden?: unknown } | null
  return typeof of === 'object' && of !== null && typeof of.hidden === 'string' && Object.keys(of).length === 1 ? of.hidden : null
}

/** moneyIn gives the amount that a value is; null when it is something else. */
export function moneyIn(value: unknown): { amount: number; currency: string } | null {
  const of = value as { amount?: unknown; currency?: unknown } | null
  if (typeof of !== 'object' || of === null || Object.keys(of).length !== 2) return null
  return typeof of.amount === 'number' && typeof of.currency === 'string' ? { amount: of.amount, currency: of.currency } : null
}

/** isInstant tells a time from other texts. */
export function isInstant(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)
}

/** linesOf lists the fields below a value that say something, with dots between their names. */
export function linesOf(value: unknown, field = ''): Line[] {
  if (value === null || value === undefined || value === '' || value === false) return []
  if (typeof value !== 'object' || hiddenIn(value) || moneyIn(value)) return [{ field, value }]
  return Object.entries(value).flatMap(([name, below]) => linesOf(below, field ? `${field}.${name}` : name))
}

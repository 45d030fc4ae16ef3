import type { Shape } from '../../api/types'

type Invoice = Pick<Shape<'InvoiceDetailResponse'>, 'total' | 'credited' | 'writtenOff' | 'paid' | 'periodTo'>

/**
 * restOf is what a credit note can give back at most. Amounts of the API are decimal numbers; their differences are cut
 * to the smallest coin that a currency has.
 */
export const restOf = (i: Invoice) => Math.round((i.total - i.credited - i.writtenOff) * 1000) / 1000

/** creditNoteOf says what a credit note over a typed amount does; an empty one gives back all that is left. */
export function creditNoteOf(i: Invoice, amount: number | '') {
  const whole = amount === '' || amount === restOf(i)
  return {
    whole,
    /** runsOn: the next period is invoiced at once, and the money pays for it, unless the service is ended first. */
    runsOn: whole && i.paid > 0 && i.periodTo !== null,
  }
}

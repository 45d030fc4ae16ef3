import { readFigure } from '../ui/decimals'

/** amountOf is what somebody has typed as an amount: whole shillings are asked for; null = it is none. */
export function amountOf(typed: string): number | null {
  const read = readFigure(typed, { decimals: 2 })
  return typeof read.figure === 'number' && read.figure > 0 ? read.figure : null
}

import type { Row } from '../../api/rows'

type Booking = Pick<Row<'/receipts'>, 'state' | 'creditedTo'>

/** isBooked reports whether the money of a receipt is on a customer's account, whether or not an invoice took a part. */
export function isBooked(r: Booking): boolean {
  return r.creditedTo !== null && (r.state === 'matched' || r.state === 'allocated' || r.state === 'attributed')
}

/** seenState is the state that staff should think of: money is credited once it is on the account, not earlier or later. */
export function seenState(r: Booking): Booking['state'] {
  if (r.state === 'matched' && isBooked(r)) return 'allocated'
  if ((r.state === 'allocated' || r.state === 'attributed') && !isBooked(r)) return 'matched'
  return r.state
}

/** setAsideOf is the money of a receipt that waits for its refunds: it is no credit until one of them fails. */
export function setAsideOf(refunds: Pick<Row<'/refunds'>, 'state' | 'secured' | 'amount'>[]): number {
  return refunds
    .filter((r) => r.secured && r.state !== 'completed' && r.state !== 'failed')
    .reduce((sum, r) => sum + r.amount, 0)
}

/** restOf is what a receipt leaves as credit: on an account, on no invoice and no loss, and neither refunded nor set aside. */
export function restOf(r: Booking & Pick<Row<'/receipts'>, 'amount' | 'refunded' | 'allocations'>, setAside: number): number {
  return isBooked(r) ? r.amount - r.refunded - setAside - r.allocations.reduce((sum, a) => sum + a.amount, 0) : 0
}

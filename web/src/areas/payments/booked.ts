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

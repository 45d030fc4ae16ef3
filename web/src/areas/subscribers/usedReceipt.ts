import type { Problem } from '../../api/problem'
import type { Shape } from '../../api/types'

/** UsedReceipt is the receipt that has a reference already: docs/rules/money.md#cash. */
interface UsedReceipt {
  id: string
  receiptNumber: string
  amount: number
  currency: string
  paidAt: string
  /** subscriber is null when nobody's account has the money. */
  subscriber: Shape<'SubscriberRef'> | null
}

const codes = ['reference_used', 'reference_taken_back']

/** usedReceipt is what the refusal of a reference names; null for every other problem, and for answers without it. */
export function usedReceipt(of: Pick<Problem, 'code' | 'details'>): UsedReceipt | null {
  const { receipt } = of.details
  if (!codes.includes(of.code) || typeof receipt !== 'object' || receipt === null || !('id' in receipt)) return null
  const r = receipt as UsedReceipt
  return { ...r, amount: Number(r.amount) }
}

import type { Row } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { paymentsText } from '../../text/payments'
import { State, type Tone } from '../../ui/State'
import { seenState } from './booked'
import { isUnsure } from './unsure'

export type PaymentRow = Row<'/payments'>
export type ReceiptRow = Row<'/receipts'>
export type Suggestion = ReceiptRow['suggestions'][number]

const paymentTones: Record<PaymentRow['status'], Tone> = {
  PENDING: 'attention',
  SUCCESS: 'good',
  CANCELLED: 'quiet',
  FAILED: 'bad',
}

const receiptTones: Record<ReceiptRow['state'], Tone> = {
  recorded: 'attention',
  matched: 'attention',
  allocated: 'good',
  attributed: 'good',
  suspense: 'attention',
  absorbed: 'quiet',
  reversed: 'bad',
  refunded: 'quiet',
}

/** PaymentState is the status of a payment as word and colour. */
export function PaymentState({ of }: { of: PaymentRow }) {
  const t = useText(paymentsText)
  return <State tone={paymentTones[of.status] ?? 'quiet'}>{t.statuses[of.status] ?? of.status}</State>
}

/** ReceiptState is the state of a receipt as word and colour; an alarm about it comes first. */
export function ReceiptState({ of }: { of: ReceiptRow }) {
  const t = useText(paymentsText)
  if (of.disputed) return <State tone="bad" title={t.disputedWhy}>{t.disputed}</State>
  if (of.unclaimed) return <State tone="attention" title={t.unclaimedWhy}>{t.unclaimed}</State>
  const state = seenState(of)
  return <State tone={receiptTones[state] ?? 'quiet'}>{t.states[state] ?? state}</State>
}

/** whyOf tells in words what became of a payment; undefined = it is simply paid. */
export function whyOf(p: PaymentRow, t: (typeof paymentsText)['en'], now: number): string | undefined {
  if (p.reason) return t.reasons[p.reason]
  if (isUnsure(p, now)) return t.unsure
  if (p.status === 'PENDING') return p.attempts > 0 ? t.noAnswer : t.waiting
  return undefined
}

/** whyOfSuggestion says in words all that speaks for a suggestion, what says most first. */
export function whyOfSuggestion(s: Suggestion, t: (typeof paymentsText)['en']): string {
  return s.reasons.map((r) => (r.by === 'history' ? t.paidBefore(r.times ?? 1) : t.near[r.by] ?? r.text)).join(' ')
}

import type { Row } from '../../api/rows'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { State, type Tone } from '../../ui/State'

export type InvoiceRow = Row<'/invoices'>

const tones: Record<InvoiceRow['state'], Tone> = {
  draft: 'quiet',
  issued: 'attention',
  partially_paid: 'attention',
  paid: 'good',
  credited: 'quiet',
  written_off: 'bad',
  voided: 'quiet',
}

/** InvoiceState is the state of an invoice as word and colour; that it is overdue comes first. */
export function InvoiceState({ of }: { of: Pick<InvoiceRow, 'state' | 'overdue' | 'order' | 'paid'> }) {
  const t = useText(billingText)
  const word = wordOf(of, t)
  if (of.overdue) return <State tone="bad" title={word}>{t.overdue}</State>
  if (of.order) return <State tone="quiet" title={t.order}>{word}</State>
  return <State tone={tones[of.state] ?? 'quiet'}>{word}</State>
}

/** wordOf names the state. What credit notes made smaller counts as partly paid for the API, though nobody has paid. */
export function wordOf(of: Pick<InvoiceRow, 'state' | 'paid'>, t: typeof billingText.en): string {
  if (of.state === 'partially_paid' && of.paid === 0) return t.partlyCredited
  return t.states[of.state] ?? of.state
}

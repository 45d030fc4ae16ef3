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
export function InvoiceState({ of }: { of: Pick<InvoiceRow, 'state' | 'overdue' | 'order'> }) {
  const t = useText(billingText)
  const word = t.states[of.state] ?? of.state
  if (of.overdue) return <State tone="bad" title={word}>{t.overdue}</State>
  if (of.order) return <State tone="quiet" title={t.order}>{word}</State>
  return <State tone={tones[of.state] ?? 'quiet'}>{word}</State>
}

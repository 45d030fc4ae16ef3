import type { Row } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { taxText } from '../../text/tax'
import { State, type Tone } from '../../ui/State'

export type TaxDocumentRow = Row<'/tax-documents'>

const tones: Record<TaxDocumentRow['state'], Tone> = {
  queued: 'attention',
  signed: 'good',
  refused: 'bad',
  withdrawn: 'quiet',
}

/** TaxState is what became of a document at the tax authority, as word and colour. */
export function TaxState({ of, title }: { of: TaxDocumentRow['state']; title?: string }) {
  const t = useText(taxText)
  return <State tone={tones[of] ?? 'quiet'} title={title}>{t.states[of] ?? of}</State>
}

import { useText } from '../../text/catalogue'
import { reconciliationsText } from '../../text/reconciliations'
import { State } from '../../ui/State'
import { type Compared, differs, toneOf } from './compared'

/** ReconciliationState is how far a statement is, and whether it agrees, as word and colour. */
export function ReconciliationState({ of: r }: { of: Compared }) {
  const t = useText(reconciliationsText)
  const word = r.state === 'compared' ? (differs(r) ? t.differs : t.alike) : t.states[r.state]
  return <State tone={toneOf(r)}>{word}</State>
}

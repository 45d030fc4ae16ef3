import { api } from '../api/client'
import { catalogue, useText } from '../text/catalogue'
import { OnlyFilter } from './OnlyFilter'

const texts = catalogue(
  { only: (name: string) => `Only ${name}`, all: 'Show those of all customers', customer: 'one customer' },
  { only: (name) => `${name} pekee`, all: 'Onyesha za wateja wote', customer: 'mteja mmoja' },
)

/** CustomerFilter says that a list shows one customer's rows alone, and takes that away. */
export function CustomerFilter({ id, onClear }: { id: string | undefined; onClear: () => void }) {
  return id ? <Chosen id={id} onClear={onClear} /> : null
}

function Chosen({ id, onClear }: { id: string; onClear: () => void }) {
  const t = useText(texts)
  const { data: c } = api.useQuery('get', '/subscribers/{id}', { params: { path: { id } } })
  const name = c && ([c.firstName, c.lastName].filter(Boolean).join(' ') || c.accountNumber)
  return <OnlyFilter words={t.only(name ?? t.customer)} title={t.all} onClear={onClear} />
}

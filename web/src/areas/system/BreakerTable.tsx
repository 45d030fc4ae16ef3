import type { Rows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { systemText } from '../../text/system'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { State, type Tone } from '../../ui/State'
import { To } from '../../ui/To'
import { When } from '../../ui/When'

type Breaker = Shape<'BreakerState'>

const tones: Record<Breaker['state'], Tone> = { closed: 'good', half_open: 'attention', open: 'bad' }
const order = ['open', 'half_open', 'failing', 'closed']

/** failing says that something is called still, and its last answers were failures: nobody knows that it answers. */
export const failing = (b: Pick<Breaker, 'state' | 'failures'>) => b.state === 'closed' && b.failures > 0

const place = (b: Breaker) => order.indexOf(failing(b) ? 'failing' : b.state)

/** BreakerTable shows what is called and what is left alone for a while; the bad ones first. */
export function BreakerTable({ list }: { list: Rows<Breaker> }) {
  const t = useText(systemText)
  const f = useFormat()
  const { platform } = usePerson()
  const sorted = [...list.rows].sort((a, b) => place(a) - place(b))
  const columns: Column<Breaker>[] = [
    {
      id: 'target', title: t.target,
      cell: (b) => b.device && !platform
        ? <To way={{ to: `/routers/${b.device.id}` }}>{b.device.name}</To>
        : <span title={b.target}>{b.device?.name ?? b.target}</span>,
    },
    ...platform ? [{
      id: 'organization', title: t.organization, width: 180, wideOnly: true,
      cell: (b: Breaker) => b.organization && <To way={{ to: `/orgs/${b.organization.id}` }}>{b.organization.name}</To>,
    }] : [],
    { id: 'kind', title: t.kind, width: 190, wideOnly: true, cell: (b) => t.kinds[b.kind] ?? b.kind },
    { id: 'state', title: t.state, width: 130, narrow: 104, cell: (b) => failing(b)
      ? <State tone="attention">{t.failing}</State>
      : <State tone={tones[b.state]}>{t.breakerStates[b.state]}</State> },
    { id: 'failures', title: t.failures, width: 140, figure: true, wideOnly: true, cell: (b) => f.number(b.failures) },
    { id: 'retryAt', title: t.retryAt, width: 136, narrow: 100, cell: (b) => <When at={b.retryAt} /> },
    { id: 'lastError', title: t.lastError, wideOnly: true, cell: (b) => b.lastError && <span title={b.lastError}>{b.lastError}</span> },
  ]
  return (
    <DataTable
      whole
      list={{ ...list, rows: sorted }}
      columns={columns}
      rowKey={(b) => `${b.kind} ${b.target}`}
      label={t.breakers}
      empty={<Empty title={t.noBreakers}>{t.noBreakersHint}</Empty>}
    />
  )
}

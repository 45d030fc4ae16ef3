import type { Rows } from '../../api/rows'
import { usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { systemText } from '../../text/system'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { State, type Tone } from '../../ui/State'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { type Breaker, conditionOf } from './amiss'

type Condition = ReturnType<typeof conditionOf>

const tones: Record<Condition, Tone> = { closed: 'good', failing: 'attention', half_open: 'attention', open: 'bad' }
const order: Condition[] = ['open', 'half_open', 'failing', 'closed']
const place = (b: Breaker) => order.indexOf(conditionOf(b))

/** BreakerTable shows what is called and what is left alone for a while; the bad ones first. */
export function BreakerTable({ list }: { list: Rows<Breaker> }) {
  const t = useText(systemText)
  const f = useFormat()
  const { platform } = usePerson()
  const sorted = [...list.rows].sort((a, b) => place(a) - place(b))
  const columns: Column<Breaker>[] = [
    {
      id: 'target', title: t.target,
      cell: (b) => (
        <>
          {b.device && !platform
            ? <To way={{ to: `/routers/${b.device.id}` }}>{b.device.name}</To>
            : <span title={b.target}>{b.device?.name ?? b.target}</span>}
          {b.lastError && conditionOf(b) !== 'closed' && <div className="words">{b.lastError}</div>}
        </>
      ),
    },
    ...platform ? [{
      id: 'organization', title: t.organization, width: 180, wideOnly: true,
      cell: (b: Breaker) => b.organization && <To way={{ to: `/orgs/${b.organization.id}` }}>{b.organization.name}</To>,
    }] : [],
    { id: 'kind', title: t.kind, width: 190, wideOnly: true, cell: (b) => t.kinds[b.kind] ?? b.kind },
    { id: 'state', title: t.state, width: 130, narrow: 104, cell: (b) => <State tone={tones[conditionOf(b)]}>{t.breakerStates[conditionOf(b)]}</State> },
    { id: 'failures', title: t.failures, width: 140, figure: true, wideOnly: true, cell: (b) => f.number(b.failures) },
    { id: 'retryAt', title: t.retryAt, width: 136, narrow: 100, cell: (b) => <When at={b.retryAt} /> },
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

import { Progress } from '@mantine/core'
import type { Rows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { systemText } from '../../text/system'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { State, type Tone } from '../../ui/State'

type Projection = Shape<'ProjectionResponse'>

const tones: Record<Projection['state'], Tone> = {
  live: 'good',
  following: 'good',
  behind: 'attention',
  building: 'attention',
  outdated: 'attention',
  stopped: 'bad',
}

const order: Tone[] = ['bad', 'attention', 'good']

/** ProjectionTable shows every read model with how far it is, and how far a rebuild is; the bad ones first. */
export function ProjectionTable({ list }: { list: Rows<Projection> }) {
  const t = useText(systemText)
  const f = useFormat()
  const columns: Column<Projection>[] = [
    { id: 'name', title: t.projection, cell: (p) => <span title={p.name}>{p.name.replaceAll('_', ' ')}</span> },
    { id: 'state', title: t.state, cell: (p) => <State tone={tones[p.state]} title={p.error}>{t.projectionStates[p.state]}</State> },
    {
      id: 'rebuild', title: t.rebuild, width: 150, wideOnly: true,
      cell: ({ rebuild }) => {
        if (!rebuild) return null
        const part = rebuild.head > 0 ? rebuild.position / rebuild.head : 0
        const words = t.rebuilding(f.percent(part))
        return <Progress value={part * 100} aria-label={words} title={rebuild.error ?? words} color={rebuild.error ? 'red' : undefined} />
      },
    },
    { id: 'version', title: t.version, width: 90, figure: true, wideOnly: true, cell: (p) => f.number(p.version) },
    { id: 'position', title: t.position, width: 110, figure: true, wideOnly: true, cell: (p) => f.number(p.position) },
    { id: 'lag', title: t.lag, width: 100, narrow: 54, figure: true, cell: (p) => f.number(p.lag) },
  ]
  const sorted = [...list.rows].sort((a, b) => order.indexOf(tones[a.state]) - order.indexOf(tones[b.state]))
  return <DataTable whole list={{ ...list, rows: sorted }} columns={columns} rowKey={(p) => p.name} label={t.projections} empty={<Empty title={t.projections} />} />
}

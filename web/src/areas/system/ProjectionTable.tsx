import { Group, Progress, Text } from '@mantine/core'
import type { Rows } from '../../api/rows'
import { usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { systemText } from '../../text/system'
import { CopyText } from '../../ui/CopyText'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { State, type Tone } from '../../ui/State'
import { type Projection, standsStill } from './amiss'
import { AllStopped, Stopped } from './Stopped'

const tones: Record<Projection['state'], Tone> = {
  live: 'good',
  following: 'good',
  behind: 'attention',
  building: 'attention',
  outdated: 'attention',
  stopped: 'bad',
}

const named = (name: string) => name.replaceAll('_', ' ')

const order: Tone[] = ['bad', 'attention', 'good']

/** ProjectionTable shows every read model with how far it is, and how far a rebuild is; the bad ones first. */
export function ProjectionTable({ list }: { list: Rows<Projection> }) {
  const t = useText(systemText)
  const f = useFormat()
  const columns: Column<Projection>[] = [
    { id: 'name', title: t.projection, cell: (p) => <span title={p.name}>{named(p.name)}</span> },
    { id: 'state', title: t.state, cell: (p) => <State tone={tones[p.state]}>{t.projectionStates[p.state]}</State> },
    {
      id: 'rebuild', title: t.rebuild, width: 150, wideOnly: true,
      cell: ({ rebuild }) => {
        if (!rebuild) return null
        const part = rebuild.head > 0 ? rebuild.position / rebuild.head : 0
        const words = t.rebuilding(f.percent(part))
        return <Progress value={part * 100} aria-label={words} title={words} color={rebuild.error ? 'red' : undefined} />
      },
    },
    { id: 'version', title: t.version, width: 90, figure: true, wideOnly: true, cell: (p) => f.number(p.version) },
    { id: 'position', title: t.position, width: 110, figure: true, wideOnly: true, cell: (p) => f.number(p.position) },
    { id: 'lag', title: t.lag, width: 100, narrow: 54, figure: true, cell: (p) => f.number(p.lag) },
  ]
  const sorted = [...list.rows].sort((a, b) => order.indexOf(tones[a.state]) - order.indexOf(tones[b.state]))
  return <DataTable whole list={{ ...list, rows: sorted }} columns={columns} rowKey={(p) => p.name} label={t.projections} empty={<Empty title={t.projections} />} />
}

/** StoppedReadModels shows which read models stand still and why, with the step that helps. */
export function StoppedReadModels({ of }: { of: Projection[] }) {
  const t = useText(systemText)
  const f = useFormat()
  const { platform } = usePerson()
  const stopped = of.filter(standsStill)
  if (stopped.length === 0) return null
  return (
    <AllStopped hint={platform ? t.readModelStep : t.readModelHint}>
      {stopped.map((p) => (
        <Stopped
          key={p.name}
          name={p.state === 'stopped' ? named(p.name) : t.rebuildStopped(named(p.name))}
          error={p.error || p.rebuild?.error}
        >
          <Facts of={[[t.position, f.number(p.position)], [t.lag, f.number(p.lag)]]} />
          {platform && (
            <Group gap="xs">
              <Text size="sm">{t.rebuildBy}</Text>
              <CopyText text={`lastmile projections rebuild ${p.name}`} />
            </Group>
          )}
        </Stopped>
      ))}
    </AllStopped>
  )
}

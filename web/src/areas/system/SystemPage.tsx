import { Text } from '@mantine/core'
import { api } from '../../api/client'
import { usePerson } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { systemText } from '../../text/system'
import { Loaded } from '../../ui/Loaded'
import { later } from '../../ui/later'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { wholeList } from '../../ui/wholeList'
import { useToday } from '../home/today'
import { amissOf } from './amiss'
import { Parts } from './Parts'
import { ProcessTable, StoppedParts } from './Processes'
import { ProjectionTable, StoppedReadModels } from './ProjectionTable'
import './system.css'

const NothingSaved = later(() => import('./NothingSaved').then((m) => m.NothingSaved))
const BreakerTable = later(() => import('./BreakerTable').then((m) => m.BreakerTable))

// Positions move with every event, of which the stream does not tell; the page looks while it is open.
const every = { refetchInterval: 5000 }

/** SystemPage answers: does the program itself work, and if not, what has stopped and why? */
export default function SystemPage() {
  const t = useText(systemText)
  const app = useText(appText)
  const processes = api.useQuery('get', '/system/processes', {}, every)
  const projections = api.useQuery('get', '/system/projections', {}, every)
  const breakers = api.useQuery('get', '/platform/breakers', {}, every)
  const { platform } = usePerson()
  const parts = api.useQuery('get', '/system/parts', {}, { ...every, enabled: platform })
  // An organization does not learn which part is down, but that one is.
  const today = useToday(null)
  const unsaved = !platform && !!today.data?.faults.some((f) => f.kind === 'nothing_saved')
  const amiss = (unsaved ? 1 : 0) + amissOf({
    parts: parts.data?.data, processes: processes.data?.data, projections: projections.data?.data, breakers: breakers.data?.data,
  })
  const all = [platform ? parts : today, processes, projections, breakers]
  const read = {
    data: all.every((each) => each.data) || undefined,
    error: all.find((each) => each.error)?.error,
    isPending: all.some((each) => each.isPending),
    refetch: () => all.forEach((each) => void each.refetch()),
  }
  return (
    <Page title={app.system}>
      <Loaded read={read} height={22}>
        {() => <State tone={amiss === 0 ? 'good' : 'attention'}>{amiss === 0 ? t.allWell : t.amiss(amiss)}</State>}
      </Loaded>
      <Text size="sm" c="dimmed" maw={760}>{t.hint}</Text>
      {unsaved && <NothingSaved />}
      {platform && (
        <Section title={t.parts}>
          <Loaded read={parts} height={120}>
            {({ data }) => <Parts of={data} />}
          </Loaded>
        </Section>
      )}
      <Section title={t.processes}>
        <Text size="sm" c="dimmed">{t.processesHint}</Text>
        <StoppedParts of={processes.data?.data ?? []} />
        <ProcessTable list={wholeList(processes, (d) => d.data)} />
      </Section>
      <Section title={t.breakers}>
        <Text size="sm" c="dimmed">{t.breakersHint}</Text>
        <BreakerTable list={wholeList(breakers, (d) => d.data)} />
      </Section>
      <Section title={t.projections}>
        <Text size="sm" c="dimmed">{t.projectionsHint}</Text>
        <StoppedReadModels of={projections.data?.data ?? []} />
        <ProjectionTable list={wholeList(projections, (d) => d.data)} />
      </Section>
    </Page>
  )
}

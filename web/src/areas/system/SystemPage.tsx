import { Text } from '@mantine/core'
import { api } from '../../api/client'
import { usePerson } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { systemText } from '../../text/system'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { wholeList } from '../../ui/wholeList'
import { BreakerTable } from './BreakerTable'
import { ProcessTable, StoppedParts } from './Processes'
import { ProjectionTable } from './ProjectionTable'

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
  const down = parts.data?.data.filter((p) => p.state === 'down') ?? []
  const amiss = down.length +
    (processes.data?.data.filter((p) => p.state === 'stopped' || p.stopped.length > 0).length ?? 0) +
    (projections.data?.data.filter((p) => p.state === 'stopped').length ?? 0) +
    (breakers.data?.data.filter((b) => b.state !== 'closed').length ?? 0)
  const all = platform ? [parts, processes, projections, breakers] : [processes, projections, breakers]
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
      {platform && (
        <Section title={t.parts}>
          <Loaded read={parts} height={120}>
            {({ data }) => (
              <Facts
                of={data.map((p) => [
                  p.name.replaceAll('_', ' '),
                  <State key="s" tone={p.state === 'up' ? 'good' : 'bad'}>{t.partStates[p.state]}{p.detail && `: ${p.detail}`}</State>,
                ])}
              />
            )}
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
        <ProjectionTable list={wholeList(projections, (d) => d.data)} />
      </Section>
    </Page>
  )
}

import { Grid, Stack, Text } from '@mantine/core'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { homeText } from '../../text/home'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { Faults } from './Faults'
import { beginNeeds, begins, onlyZeros } from './beginning'
import { customersOf, networkOf, sinceOf, waitingOf } from './figures'
import { Lines, Quiet } from './Lines'
import { Takings } from './Takings'
import { type Today, useSince, useToday } from './today'
import { Verdict } from './Verdict'

const DeviceFigures = later(() => import('./DeviceFigures').then((m) => m.DeviceFigures))
const FirstSteps = later(() => import('./FirstSteps').then((m) => m.FirstSteps), { height: 280 })

/** OrganizationHome has what is bad first, then what waits for somebody, then the money and the customers. */
export function OrganizationHome() {
  const t = useText(appText)
  const today = useToday(useSince())
  return (
    <Page title={t.home} name={today.data && <Verdict of={today.data.faults} waiting={waits(today.data)} />}>
      <Loaded read={today} height={480}>{(r) => <Begun of={r} />}</Loaded>
    </Page>
  )
}

const waits = (r: Today) => r.suspense.count > 0 || r.pending.approvals > 0 || r.refunds.requested + r.refunds.approved > 0 || r.differences.total > 0 || r.subscriptions.writtenOff > 0
  || r.compensations.applying + r.compensations.failed > 0

/** Begun shows a new organization its first steps before what there is to report, and instead of nothing but zeros. */
function Begun({ of: r }: { of: Today }) {
  const may = useMay()
  if (!begins(r) || !beginNeeds.every(may)) return <Report of={r} />
  return (
    <Stack gap="lg">
      <FirstSteps of={r} />
      {!onlyZeros(r) && <Report of={r} />}
    </Stack>
  )
}

function Report({ of: r }: { of: Today }) {
  const t = useText(homeText)
  const f = useFormat()
  const may = useMay()
  const waiting = waitingOf(r, t, f)
  const network = networkOf(r, t, f)
  return (
    <Grid gutter={{ base: 'lg', md: 32 }}>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <Faults of={r.faults} />
          <Section title={t.waiting}>
            {waiting.some.length > 0 ? <Lines of={waiting.some} /> : <Text size="sm">{t.nothingWaits}</Text>}
            <Quiet lead={t.none} of={waiting.none} />
          </Section>
          {r.since && <Since of={r.since} />}
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack gap="lg">
          <Takings of={r} chart={may('GET /reports/collections')} />
          <Section title={t.customers}>
            <Lines of={customersOf(r, t, f)} />
          </Section>
          {network.length > 0 && (
            <Section title={t.network}>
              <Lines of={network} />
            </Section>
          )}
          <DeviceFigures />
        </Stack>
      </Grid.Col>
    </Grid>
  )
}

/** Since tells what happened while this person was away. */
function Since({ of }: { of: NonNullable<Today['since']> }) {
  const t = useText(homeText)
  const f = useFormat()
  const lines = sinceOf(of, t, f)
  return (
    <Section title={<>{t.sinceTitle} <Text span inherit fw={400} c="dimmed"><When at={of.at} /></Text></>}>
      {lines.length > 0 ? <Lines of={lines} /> : <Text size="sm" c="dimmed">{t.sinceNothing}</Text>}
    </Section>
  )
}

import { Button, Group, Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { networkText } from '../../text/network'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Plus } from '../../ui/icons'
import { Page } from '../../ui/Page'
import { Spark } from '../../ui/Spark'
import { State } from '../../ui/State'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { toneOfRouter } from './words'

type Fleet = Row<'/nas/fleet'>

/** RoutersPage answers: which routers are not well, and how busy is each? */
export default function RoutersPage() {
  const t = useText(networkText)
  const words = useText(uiText)
  const app = useText(appText)
  const f = useFormat()
  const may = useMay()
  const filters = useSearch({ from: '/routers' })
  const navigate = useNavigate({ from: '/routers' })
  const list = useRows('/nas/fleet', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const known = (n: number | null, write: (n: number) => string) => (n === null ? <Dash /> : write(n))
  const columns: Column<Fleet>[] = [
    { id: 'name', title: t.name, width: 148, narrow: 120, cell: (r) => <Link to="/routers/$id" params={{ id: r.deviceId }}>{r.name}</Link> },
    { id: 'state', title: t.state, cell: (r) => <RouterState of={r} /> },
    {
      id: 'sessions', title: t.pppOnline, width: 96, narrow: 80, figure: true,
      cell: (r) => r.activeSessions === null ? <Dash /> : (
        <To way={{ to: '/sessions', search: { deviceId: r.deviceId, online: true } }}>{f.number(r.activeSessions)}</To>
      ),
    },
    {
      id: 'spark', title: t.lately, width: 96, wideOnly: true,
      cell: (r) => r.history.length > 1 && (
        <Spark values={r.history.map((p) => p.activeSessions)} label={t.spark(f.number(r.activeSessions ?? 0))} />
      ),
    },
    { id: 'cpu', title: t.cpu, width: 70, figure: true, wideOnly: true, cell: (r) => known(r.cpuPercent, (n) => f.percent(n / 100)) },
    { id: 'memory', title: t.memory, width: 104, figure: true, wideOnly: true, cell: (r) => known(r.memoryPercent, (n) => f.percent(n / 100)) },
    { id: 'uptime', title: t.uptime, width: 110, figure: true, wideOnly: true, cell: (r) => known(r.uptimeSeconds, (n) => f.duration(n)) },
    { id: 'version', title: t.version, width: 124, wideOnly: true, cell: (r) => r.version ?? <Dash /> },
    { id: 'polled', title: t.lastSeen, width: 142, wideOnly: true, cell: (r) => <When at={r.reachable ? r.polledAt : r.unreachableSince} /> },
  ]
  const register = may('POST /nas/devices') && (
    <Button renderRoot={(props) => <Link {...props} to="/routers/new" />} leftSection={<Plus size={14} aria-hidden />}>{t.register}</Button>
  )
  return (
    <Page title={app.routers} actions={register} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter
          value={filters.state}
          label={t.filterState}
          names={t.states}
          onChange={(state) => change({ state, reachable: undefined })}
        />
        <ChoiceFilter<'true' | 'false'>
          value={filters.drift === undefined ? undefined : filters.drift ? 'true' : 'false'}
          label={t.filterDrift}
          names={t.drifts}
          onChange={(drift) => change({ drift: drift && drift === 'true' })}
        />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(r) => r.deviceId}
        label={app.routers}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none} action={register}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}

const Dash = () => <Text span inherit c="dimmed">–</Text>

/** RouterState says what is the matter with a router of the list: its silence before its services, those before drift. */
function RouterState({ of: r }: { of: Fleet }) {
  const t = useText(networkText)
  const f = useFormat()
  const tone = toneOfRouter(r)
  if (r.state === 'down' && r.unreachableSince) {
    return <State tone={tone} title={r.error ?? undefined}>{t.states.down}<span className="wide-only"> {t.since} {f.short(r.unreachableSince)}</span></State>
  }
  if (r.state !== 'up') return <State tone={tone} title={r.error ?? undefined}>{t.states[r.state]}</State>
  if (r.services.failed > 0) return <State tone={tone}>{t.failedServices(r.services.failed)}</State>
  if (r.drift) return <Group component="span" gap={4}><State tone={tone} title={t.differsHint}>{t.differs}</State></Group>
  return <State tone={tone}>{t.states.up}</State>
}

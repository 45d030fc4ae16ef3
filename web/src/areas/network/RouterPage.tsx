import { Link, useParams, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { networkText } from '../../text/network'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { Views } from '../../ui/Views'
import { OverviewPart } from './OverviewPart'
import { RouterActions } from './RouterActions'
import { RouterAnswer } from './RouterAnswer'
import { routerViews } from './routes'

const DifferencesPart = later(() => import('./DifferencesPart').then((m) => m.DifferencesPart), { height: 400 })
const HistoryPart = later(() => import('./HistoryPart').then((m) => m.HistoryPart), { height: 400 })
const InterfacesPart = later(() => import('./InterfacesPart').then((m) => m.InterfacesPart), { height: 480 })
const LeasesPart = later(() => import('./LiveLists').then((m) => m.LeasesPart), { height: 400 })
const RefusedPart = later(() => import('./RefusedPart').then((m) => m.RefusedPart), { height: 400 })
const QueuesPart = later(() => import('./LiveLists').then((m) => m.QueuesPart), { height: 400 })
const SessionsPart = later(() => import('./LiveLists').then((m) => m.SessionsPart), { height: 400 })
const ScriptPart = later(() => import('./ScriptPart').then((m) => m.ScriptPart), { height: 400 })
const ServicesPart = later(() => import('./ServicesPart').then((m) => m.ServicesPart), { height: 320 })
const SettingsPart = later(() => import('./SettingsPart').then((m) => m.SettingsPart), { height: 480 })

/** RouterPage answers about one router: is it well, and what helps? Its parts ask the router when they are opened. */
export default function RouterPage() {
  const t = useText(networkText)
  const { id } = useParams({ from: '/routers/$id' })
  const { view = 'overview' } = useSearch({ from: '/routers/$id' })
  const device = api.useQuery('get', '/nas/devices/{id}', { params: { path: { id } } }, { refetchInterval: 30_000 })
  return (
    <Page title={device.data?.name ?? t.router} wide actions={device.data && <RouterActions of={device.data} />}>
      <Loaded read={device} height={88}>{(d) => <RouterAnswer of={d} />}</Loaded>
      <Views
        label={t.details}
        current={view}
        of={routerViews.map((v) => [v, t.views[v], (inner) => (
          <Link to="/routers/$id" params={{ id }} search={{ view: v }} {...inner} />
        )])}
      />
      {view === 'overview' && <Loaded read={device} height={480}>{(d) => <OverviewPart of={d} />}</Loaded>}
      {view === 'services' && <ServicesPart id={id} />}
      {view === 'interfaces' && <InterfacesPart id={id} />}
      {view === 'sessions' && <SessionsPart id={id} />}
      {view === 'refused' && <RefusedPart id={id} />}
      {view === 'leases' && <LeasesPart id={id} />}
      {view === 'queues' && <QueuesPart id={id} />}
      {view === 'differences' && <DifferencesPart id={id} />}
      {view === 'script' && <Loaded read={device} height={320}>{(d) => <ScriptPart of={d} />}</Loaded>}
      {view === 'history' && <HistoryPart id={id} />}
      {view === 'settings' && <SettingsPart id={id} />}
    </Page>
  )
}

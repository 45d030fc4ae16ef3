import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { Views } from '../../ui/Views'
import { DeviceActions } from './DeviceActions'
import type { Act } from './DeviceDialogs'
import { DeviceOverview } from './DeviceOverview'
import { Operations } from './Operations'
import { deviceViews } from './routes'

const Faults = later(() => import('./Faults').then((m) => m.Faults), { height: 240 })
const Tests = later(() => import('./Tests').then((m) => m.Tests), { height: 320 })
const DeviceDialogs = later(() => import('./DeviceDialogs').then((m) => m.DeviceDialogs))

// What a device says of itself is no change of the stream.
const often = { refetchInterval: 30_000 }

/** DevicePage answers about one device: does it work, whose is it, and what helps? */
export default function DevicePage() {
  const t = useText(devicesText)
  const { id } = useParams({ from: '/devices/$id' })
  const { view = 'overview' } = useSearch({ from: '/devices/$id' })
  const [act, setAct] = useState<Act | null>(null)
  const read = api.useQuery('get', '/cpe/devices/{id}', { params: { path: { id } } }, often)
  if (read.error && !read.data) {
    return <Page title={t.device}><ProblemNote of={read.error} retry={() => void read.refetch()} /></Page>
  }
  return (
    <Page title={read.data?.serialNumber ?? t.device} wide actions={read.data && <DeviceActions of={read.data} onAct={setAct} />}>
      <Views
        label={t.details}
        current={view}
        of={deviceViews.map((v) => [v, t.views[v], (inner) => (
          <Link to="/devices/$id" params={{ id }} search={{ view: v }} {...inner} />
        )])}
      />
      {view === 'overview' && <Loaded read={read} height={480}>{(d) => <DeviceOverview of={d} />}</Loaded>}
      {view === 'operations' && <Operations id={id} />}
      {view === 'tests' && <Tests id={id} />}
      {view === 'faults' && <Faults deviceId={id} />}
      {act && read.data && <DeviceDialogs act={act} of={read.data} onClose={() => setAct(null)} />}
    </Page>
  )
}

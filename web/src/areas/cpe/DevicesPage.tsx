import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { useFormat } from '../../text/format'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, ExactFilter, Filters, TextFilter } from '../../ui/Filters'
import { Page } from '../../ui/Page'
import { When } from '../../ui/When'
import { DeviceState } from './DeviceState'
import { choiceOf, filtersOf, kindName } from './words'

type Device = Row<'/cpe/devices'>

/** DevicesPage answers: which devices in customers' homes are there, and which do not call? */
export default function DevicesPage() {
  const t = useText(devicesText)
  const app = useText(appText)
  const words = useText(uiText)
  const f = useFormat()
  const may = useMay()
  const filters = useSearch({ from: '/devices' })
  const navigate = useNavigate({ from: '/devices' })
  const list = useRows('/cpe/devices', filters)
  const counts = api.useQuery('get', '/cpe/dashboard')
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<Device>[] = [
    { id: 'serial', title: t.serial, width: 170, narrow: 128, cell: (d) => <Link to="/devices/$id" params={{ id: d.id }} className="figure">{d.serialNumber}</Link> },
    { id: 'state', title: t.state, width: 110, narrow: 96, cell: (d) => <DeviceState of={d} /> },
    { id: 'customer', title: t.customer, cell: (d) => <CustomerLink of={d.subscriber} /> },
    { id: 'kind', title: t.model, width: 170, wideOnly: true, cell: (d) => kindName(d) ?? t.unknown },
    { id: 'firmware', title: t.firmware, width: 120, wideOnly: true, cell: (d) => d.firmwareVersion ?? t.unknown },
    { id: 'clients', title: t.clients, width: 96, figure: true, wideOnly: true, cell: (d) => (d.health?.wifiClients == null ? '–' : f.number(d.health.wifiClients)) },
    { id: 'place', title: t.location, width: 170, wideOnly: true, cell: (d) => [d.label, d.location].filter(Boolean).join(', ') },
    { id: 'called', title: t.lastInform, width: 140, wideOnly: true, cell: (d) => <When at={d.lastInform} /> },
  ]
  const toPending = may('GET /cpe/pending') && (
    <Button variant="default" renderRoot={(props) => <Link {...props} to="/pending-devices" />}>{t.toPending}</Button>
  )
  return (
    <Page title={app.cpes} wide actions={toPending}>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <TextFilter value={filters.q} label={t.serial} width={190} onChange={(q) => change({ q })} />
        <ChoiceFilter value={choiceOf(filters)} label={t.state} names={t.states} onChange={(c) => change(filtersOf(c))} />
        <ExactFilter value={filters.model} label={t.model} onChange={(model) => change({ model })} />
        <ExactFilter
          value={filters.firmwareVersion}
          label={t.firmware}
          known={Object.keys(counts.data?.firmwareCounts ?? {}).filter((v) => v !== 'Unknown').sort().map((value) => ({ value }))}
          onChange={(firmwareVersion) => change({ firmwareVersion })}
        />
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(d) => d.id}
        label={app.cpes}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none} action={toPending}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}

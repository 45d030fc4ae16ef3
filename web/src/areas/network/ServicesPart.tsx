import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { networkText } from '../../text/network'
import { servicesText } from '../../text/services'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Plus } from '../../ui/icons'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { placeOf, toneOfService } from './words'

type Service = Row<'/nas/devices/{id}/services'>

/** ServicesPart lists the services on a router. */
export function ServicesPart({ id }: { id: string }) {
  const t = useText(servicesText)
  const words = useText(networkText)
  const f = useFormat()
  const may = useMay()
  const list = useRows('/nas/devices/{id}/services', {}, { path: { id } })
  const columns: Column<Service>[] = [
    {
      id: 'type', title: t.service, width: 180, narrow: 84,
      cell: (s) => <Link to="/services/$id" params={{ id: s.id }}>{t.types[s.type] ?? s.type}</Link>,
    },
    { id: 'place', title: t.place, width: 150, narrow: 100, cell: (s) => placeOf(s, t) },
    { id: 'state', title: t.state, cell: (s) => <ServiceState of={s} /> },
    {
      id: 'sessions', title: t.sessions, width: 110, figure: true, wideOnly: true,
      cell: (s) => <Link to="/sessions" search={{ deviceId: id, online: true }}>{f.number(s.activeSessions)}</Link>,
    },
    { id: 'subnet', title: t.subnet, width: 150, wideOnly: true, cell: (s) => <span className="figure">{s.subnet}</span> },
    { id: 'applied', title: t.applied, width: 130, wideOnly: true, cell: (s) => <When at={s.appliedAt} /> },
  ]
  const add = may('POST /nas/devices/{id}/services') && (
    <Button renderRoot={(p) => <Link {...p} to="/routers/$id/services/new" params={{ id }} />} leftSection={<Plus size={14} aria-hidden />}>
      {t.add}
    </Button>
  )
  return (
    <Section title={words.views.services} actions={add}>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(s) => s.id}
        label={words.views.services}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </Section>
  )
}

/** ServiceState is the state of a service in words; work that is under way comes before it. */
function ServiceState({ of: s }: { of: Service }) {
  const t = useText(servicesText)
  const says = s.removing ? t.removing : s.working ? t.working : t.states[s.state] ?? s.state
  return <State tone={toneOfService(s)} title={s.lastError?.message}>{says}</State>
}

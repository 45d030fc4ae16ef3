import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Row, type Rows, useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { networkText } from '../../text/network'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { To } from '../../ui/To'
import { ratesOf } from './difference'
import { ReadAgain } from './Live'
import { useAsked } from './useAsked'

type Session = Row<'/nas/devices/{id}/sessions'>
type Lease = Row<'/nas/devices/{id}/leases'>
type Queue = Row<'/nas/devices/{id}/queues'>

const figures = (text: string) => <span className="figure">{text}</span>

/** SessionsPart shows who is online at a router, as it says itself, and which customers these are. */
export function SessionsPart({ id }: { id: string }) {
  const t = useText(networkText)
  const f = useFormat()
  const list = useRows('/nas/devices/{id}/sessions', {}, { path: { id }, live: true })
  const columns: Column<Session>[] = [
    { id: 'customer', title: t.customer, cell: (s) => <CustomerLink of={s.subscriber} /> },
    { id: 'user', title: t.user, wideOnly: true, cell: (s) => <To way={{ to: '/sessions', search: { username: s.user } }}>{s.user}</To> },
    { id: 'kind', title: t.kind, width: 90, cell: (s) => t.kinds[s.kind] ?? s.kind },
    { id: 'address', title: t.address, width: 130, cell: (s) => figures(s.address) },
    { id: 'device', title: t.device, width: 160, wideOnly: true, cell: (s) => figures(s.callerId) },
    { id: 'uptime', title: t.uptime, width: 110, figure: true, wideOnly: true, cell: (s) => f.duration(s.uptimeSeconds) },
    {
      id: 'by', title: t.signedInBy, width: 170, wideOnly: true,
      cell: (s) => s.radius ? t.byRadius : <State tone="attention" title={t.byRouterHint}>{t.byRouter}</State>,
    },
  ]
  return (
    <LiveList
      id={id}
      title={t.views.sessions}
      list={list}
      columns={columns}
      actions={<Text size="sm"><To way={{ to: '/sessions', search: { deviceId: id, online: true } }}>{t.withCustomers}</To></Text>}
      empty={<Empty title={t.nobodyOnline}>{t.nobodyOnlineHint}</Empty>}
    />
  )
}

/** LeasesPart shows the addresses that a router has given by DHCP. */
export function LeasesPart({ id }: { id: string }) {
  const t = useText(networkText)
  const list = useRows('/nas/devices/{id}/leases', {}, { path: { id }, live: true })
  const columns: Column<Lease>[] = [
    { id: 'address', title: t.address, width: 140, cell: (l) => figures(l.address) },
    { id: 'device', title: t.device, width: 160, cell: (l) => figures(l.macAddress) },
    { id: 'host', title: t.host, wideOnly: true, cell: (l) => l.hostName },
    { id: 'state', title: t.leaseState, width: 110, wideOnly: true, cell: (l) => l.status },
    { id: 'expires', title: t.expires, width: 120, wideOnly: true, cell: (l) => l.dynamic ? l.expiresAfter : t.fixed },
    { id: 'server', title: t.server, wideOnly: true, cell: (l) => l.server },
  ]
  return (
    <LiveList id={id} title={t.views.leases} list={list} columns={columns} empty={<Empty title={t.noLeases}>{t.noLeasesHint}</Empty>} />
  )
}

/** QueuesPart shows the speeds that a router enforces. */
export function QueuesPart({ id }: { id: string }) {
  const t = useText(networkText)
  const f = useFormat()
  const list = useRows('/nas/devices/{id}/queues', {}, { path: { id }, live: true })
  const limit = (text: string) => {
    const { down, up } = ratesOf(text)
    const write = (rate: number | null) => (rate === null ? t.unlimited : f.rate(rate))
    return down === null && up === null ? t.unlimited : `${write(down)} / ${write(up)}`
  }
  const columns: Column<Queue>[] = [
    { id: 'name', title: t.queue, cell: (q) => q.name },
    { id: 'speed', title: t.speed, width: 190, figure: true, cell: (q) => <span title={q.maxLimit}>{limit(q.maxLimit)}</span> },
    {
      id: 'burst', title: t.burst, width: 220, figure: true, wideOnly: true,
      cell: (q) => <span title={q.burstLimit}>{limit(q.burstLimit)}</span>,
    },
    { id: 'target', title: t.target, wideOnly: true, cell: (q) => q.target },
    {
      id: 'made', title: t.queueOrigin, width: 170, wideOnly: true,
      cell: (q) => [q.dynamic ? t.madeBySession : t.madeByHand, q.disabled && t.switchedOff].filter(Boolean).join(', '),
    },
  ]
  return (
    <LiveList id={id} title={t.views.queues} list={list} columns={columns} empty={<Empty title={t.noQueues}>{t.noQueuesHint}</Empty>} />
  )
}

function LiveList<R extends { id: string }>({ id, title, list: read, columns, actions, empty }: {
  id: string
  title: string
  list: Rows<R>
  columns: Column<R>[]
  actions?: ReactNode
  empty: ReactNode
}) {
  const t = useText(networkText)
  const list = useAsked(id, read)
  return (
    <Section
      title={title}
      actions={
        <Group gap="sm">
          {actions}
          <ReadAgain busy={list.isPending || list.asking} onClick={list.refetch} />
        </Group>
      }
    >
      <Text size="sm" c="dimmed">{t.readFrom}</Text>
      <DataTable list={list} columns={columns} rowKey={(r) => r.id} label={title} empty={empty} />
    </Section>
  )
}

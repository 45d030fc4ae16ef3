import { Group } from '@mantine/core'
import { api } from '../../api/client'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { subscribersText } from '../../text/subscribers'
import { PageLink } from '../../ui/PageLink'
import { firstOfMonth } from '../home/compare'
import './subscribers.css'

type Way = Pick<Parameters<typeof PageLink>[0], 'to' | 'search'>

/** CustomerCounts is the head of the list: how many there are of each kind, each leading to them. */
export function CustomerCounts() {
  const t = useText(subscribersText)
  const f = useFormat()
  const read = api.useQuery('get', '/reports/customers', {})
  const n = read.data
  if (!n) return <Group mih={24} />
  const list = (search: Way['search']): Way => ({ to: '/customers', search })
  const newcomers: Way = { to: '/changes', search: { kind: 'new_customer', from: firstOfMonth(f.date(serverNow())) } }
  const counts: [number, string, Way][] = [
    [n.total, t.total(n.total), list({})],
    [n.online, n.unheard > 0 ? `${t.counts.online} (${t.unheard(n.unheard)})` : t.counts.online, list({ online: true })],
    [n.byAccess.full, t.counts.full, list({ access: 'full' })],
    [n.byAccess.throttled, t.counts.throttled, list({ access: 'throttled' })],
    [n.byAccess.walled_garden, t.counts.walled_garden, list({ access: 'walled_garden' })],
    [n.byAccess.none, t.counts.none, list({ access: 'none' })],
    [n.owing, t.counts.owing, list({ owes: true, sort: 'balance' })],
    [n.newThisMonth, t.counts.newThisMonth, newcomers],
  ]
  return (
    <Group gap="4px 24px" mih={24}>
      {counts.map(([count, name, way]) => (
        <PageLink key={name} {...way} className="count">
          <b className="figure">{f.number(count)}</b> {name}
        </PageLink>
      ))}
    </Group>
  )
}

import { Group } from '@mantine/core'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { subscribersText } from '../../text/subscribers'
import { PageLink } from '../../ui/PageLink'
import './subscribers.css'

type Filter = {
  online?: boolean
  owes?: boolean
  access?: 'full' | 'throttled' | 'walled_garden' | 'none'
  sort?: 'newest' | 'balance'
}

/** CustomerCounts is the head of the list: how many there are of each kind, each leading to them. */
export function CustomerCounts() {
  const t = useText(subscribersText)
  const f = useFormat()
  const read = api.useQuery('get', '/reports/customers', {})
  const n = read.data
  if (!n) return <Group mih={24} />
  const counts: [number, string, Filter][] = [
    [n.total, t.total, {}],
    [n.online, t.counts.online, { online: true }],
    [n.byAccess.full, t.counts.full, { access: 'full' }],
    [n.byAccess.throttled, t.counts.throttled, { access: 'throttled' }],
    [n.byAccess.walled_garden, t.counts.walled_garden, { access: 'walled_garden' }],
    [n.byAccess.none, t.counts.none, { access: 'none' }],
    [n.owing, t.counts.owing, { owes: true, sort: 'balance' }],
    [n.newThisMonth, t.counts.newThisMonth, { sort: 'newest' }],
  ]
  return (
    <Group gap="4px 24px" mih={24}>
      {counts.map(([count, name, search]) => (
        <PageLink key={name} to="/customers" search={search} className="count">
          <b className="figure">{f.number(count)}</b> {name}
        </PageLink>
      ))}
    </Group>
  )
}

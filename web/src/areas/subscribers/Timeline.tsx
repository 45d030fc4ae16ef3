import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { useTell } from '../../text/happenings'
import { isolated } from '../../text/isolated'
import { uiText } from '../../text/ui'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter } from '../../ui/Filters'
import { Loaded } from '../../ui/Loaded'
import { firstOf } from './first'
import { pageOf } from './words'
import './subscribers.css'

type Entry = Row<'/subscribers/{id}/timeline'>

// The areas of the program whose events each kind is about.
const areas = { money: 'billing,payments', service: 'subscribers', network: 'access,network,audit', messages: 'messaging' }

/** Timeline is one scroll of all that happened to a customer, by day; `first` shows only so many. */
export function Timeline({ id, first }: { id: string; first?: number }) {
  const t = useText(customerText)
  const words = useText(uiText)
  const { kind } = useSearch({ from: '/customers/$id' })
  const navigate = useNavigate({ from: '/customers/$id' })
  const whole = useRows('/subscribers/{id}/timeline', first === undefined && kind ? { type: areas[kind] } : {}, { path: { id } })
  const list = firstOf(whole, first)
  const read = { data: list.isPending || (list.error && list.rows.length === 0) ? undefined : list.rows, error: list.error, isPending: list.isPending, refetch: list.refetch }
  return (
    <Stack gap="sm">
      {first === undefined && (
        <Group>
          <ChoiceFilter
            value={kind}
            label={t.kind}
            names={t.kinds}
            onChange={(k) => void navigate({ search: { view: 'timeline', ...(k ? { kind: k } : {}) }, replace: true })}
          />
        </Group>
      )}
      <Loaded read={read} height={280}>
        {(rows) => (
          <>
            {rows.length === 0 && <Empty title={t.noTimeline} />}
            <ByDay of={rows} order={first === undefined ? 2 : 3} />
            {list.hasMore && first === undefined && (
              <Group><Button variant="default" loading={list.isFetchingMore} onClick={list.more}>{words.more}</Button></Group>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function ByDay({ of: rows, order }: { of: Entry[]; order: 2 | 3 }) {
  const f = useFormat()
  const days = new Map<string, Entry[]>()
  for (const e of rows) {
    const day = f.date(e.at)
    days.set(day, [...(days.get(day) ?? []), e])
  }
  return [...days].map(([day, entries]) => (
    <div key={day}>
      <Title order={order} size="xs" c="dimmed" fw={500} mb={4}>{f.day(day)}</Title>
      <Stack gap={6} component="ol" className="timeline">
        {entries.map((e) => <OneEntry key={e.eventId} of={e} />)}
      </Stack>
    </div>
  ))
}

function OneEntry({ of: e }: { of: Entry }) {
  const t = useText(customerText)
  const f = useFormat()
  const says = useTell()(e)
  const page = pageOf(e.cause)
  return (
    <li>
      <time dateTime={e.at} title={f.exact(e.at)} className="figure">{f.time(e.at)}</time>
      <div>
        <Text size="sm" component="div">{page ? <Link to={page} className="quiet-link">{says}</Link> : says}</Text>
        <Text size="xs" c="dimmed" component="div">
          {[e.actor.name ? isolated(e.actor.name) : (t.by[e.actor.kind] ?? e.actor.kind), e.reason && t.because(e.reason)].filter(Boolean).join(' · ')}
        </Text>
      </div>
    </li>
  )
}

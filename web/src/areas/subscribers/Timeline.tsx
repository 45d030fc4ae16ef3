import { Button, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useId, useMemo } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { useTell } from '../../text/happenings'
import { isolated } from '../../text/isolated'
import { uiText } from '../../text/ui'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter } from '../../ui/Filters'
import { ChevronDown, ChevronRight } from '../../ui/icons'
import { Loaded } from '../../ui/Loaded'
import { grouped, type Paid } from './steps'
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
  const entries = useMemo(() => grouped(whole.rows).slice(0, first), [whole.rows, first])
  const { error, isPending, refetch } = whole
  const read = { data: isPending || (error && entries.length === 0) ? undefined : entries, error, isPending, refetch }
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
        {(shown) => (
          <>
            {shown.length === 0 && <Empty title={t.noTimeline} />}
            <ByDay of={shown} order={first === undefined ? 2 : 3} />
            {whole.hasMore && first === undefined && (
              <Group><Button variant="default" loading={whole.isFetchingMore} onClick={whole.more}>{words.more}</Button></Group>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

const isPaid = (e: Entry | Paid<Entry>): e is Paid<Entry> => 'steps' in e
const atOf = (e: Entry | Paid<Entry>) => (isPaid(e) ? e.credit.at : e.at)

function ByDay({ of: rows, order }: { of: (Entry | Paid<Entry>)[]; order: 2 | 3 }) {
  const f = useFormat()
  const days = new Map<string, (Entry | Paid<Entry>)[]>()
  for (const e of rows) {
    const day = f.date(atOf(e))
    days.set(day, [...(days.get(day) ?? []), e])
  }
  return [...days].map(([day, entries]) => (
    <div key={day}>
      <Title order={order} size="xs" c="dimmed" fw={500} mb={4}>{f.day(day)}</Title>
      <Stack gap={6} component="ol" className="timeline">
        {entries.map((e) => (isPaid(e) ? <OnePayment key={e.credit.eventId} of={e} /> : <OneEntry key={e.eventId} of={e} />))}
      </Stack>
    </div>
  ))
}

/** OnePayment is a payment in one line, which opens to all that it did. */
function OnePayment({ of: p }: { of: Paid<Entry> }) {
  const t = useText(customerText)
  const f = useFormat()
  const id = useId()
  const [open, { toggle }] = useDisclosure(false)
  const { at, facts } = p.credit
  return (
    <li>
      <time dateTime={at} title={f.exact(at)} className="figure">{f.time(at)}</time>
      <div>
        <UnstyledButton className="steps-head" onClick={toggle} aria-expanded={open} aria-controls={id}>
          {t.paidSteps(f.money(p.amount, facts.currency), p.steps.length)}
          {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
        </UnstyledButton>
        <Stack id={id} gap={6} component="ol" className="timeline steps" hidden={!open}>
          {open && p.steps.map((e) => <OneEntry key={e.eventId} of={e} />)}
        </Stack>
      </div>
    </li>
  )
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

import { Button, Code, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useId, useMemo, useState } from 'react'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import { serverNow } from '../../app/clock'
import { usePerson } from '../../app/person'
import { actionName } from '../../text/actionName'
import { actionText } from '../../text/actions'
import { auditText } from '../../text/audit'
import { useText } from '../../text/catalogue'
import { eventHistoryText } from '../../text/eventHistory'
import { useFormat } from '../../text/format'
import { instantOf, localOf } from '../../text/instant'
import { isolated } from '../../text/isolated'
import { uiText } from '../../text/ui'
import { CopyText } from '../../ui/CopyText'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { Form } from '../../ui/Form'
import { ChoiceFilter } from '../../ui/Filters'
import { ChevronDown, ChevronRight } from '../../ui/icons'
import { InstantField } from '../../ui/InstantField'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { To } from '../../ui/To'
import { Views } from '../../ui/Views'
import { When } from '../../ui/When'
import { hiddenIn, isInstant, linesOf, moneyIn } from './recorded'
import { historyViews } from './routes'
import { wayTo } from './target'

type Event = Row<'/history/{type}/{id}'>
type Change = Event['change'][number]

/** HistoryPage replays what happened to one thing: its events, its state at an instant, what differs between two. */
export default function HistoryPage() {
  const t = useText(eventHistoryText)
  const audit = useText(auditText)
  const { platform } = usePerson()
  const { type, id } = useParams({ from: '/history/$type/$id' })
  const { view = 'events' } = useSearch({ from: '/history/$type/$id' })
  const kind = audit.targets[type] ?? type
  const way = wayTo({ target: { type, id, name: null } }, platform)
  return (
    <Page title={`${t.title}: ${kind}`} name={<>{t.title}: {way ? <To way={way}>{kind}</To> : kind}</>}>
      <Text size="sm" c="dimmed" maw={760}>{t.hint}</Text>
      <Facts of={[[t.id, <CopyText key="id" text={id} />]]} />
      <Views
        label={t.parts}
        current={view}
        of={historyViews.map((v) => [v, t.views[v], (inner) => (
          <Link to="/history/$type/$id" params={{ type, id }} search={{ view: v }} {...inner} />
        )])}
      />
      {view === 'events' && <Events />}
      {view === 'state' && <StateThen />}
      {view === 'diff' && <Difference />}
    </Page>
  )
}

/** Events lists what happened, with who, when, why and what it changed. */
function Events() {
  const t = useText(eventHistoryText)
  const words = useText(uiText)
  const { type, id } = useParams({ from: '/history/$type/$id' })
  const { order = 'newest' } = useSearch({ from: '/history/$type/$id' })
  const navigate = useNavigate({ from: '/history/$type/$id' })
  const list = useRows('/history/{type}/{id}', { order }, { path: { type, id } })
  const read = { ...list, data: list.isPending || (list.error && list.rows.length === 0) ? undefined : list.rows }
  return (
    <Stack gap="sm">
      <Group>
        <ChoiceFilter
          value={order}
          label={t.order}
          names={t.orders}
          onChange={(o) => void navigate({ search: o === 'oldest' ? { order: o } : {}, replace: true })}
        />
      </Group>
      <Loaded read={read} height={400}>
        {(events) => (
          <>
            {events.length === 0 && <Empty title={t.none} />}
            <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: 'none' }} aria-label={t.views.events}>
              {events.map((e) => <OneEvent key={e.eventId} of={e} />)}
            </Stack>
            {list.hasMore && (
              <Group><Button variant="default" loading={list.isFetchingMore} onClick={list.more}>{words.more}</Button></Group>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

/** OneEvent is one event; what it recorded opens below it. */
function OneEvent({ of: e }: { of: Event }) {
  const t = useText(eventHistoryText)
  const audit = useText(auditText)
  const actions = useText(actionText)
  const own = useId()
  const [open, { toggle }] = useDisclosure(false)
  const { type, id } = useParams({ from: '/history/$type/$id' })
  const who = e.actor.name ? isolated(e.actor.name) : [audit.kinds[e.actor.kind], e.actor.kind === 'process' ? e.actor.id : null].filter(Boolean).join(': ')
  return (
    <Stack component="li" gap={4}>
      <Group gap="xs" wrap="wrap">
        <Text size="sm" fw={600} component="span">{e.hidden ? t.ofOthers : actionName(e.action, actions)}</Text>
        <Code>{e.type}</Code>
        <Text size="sm" c="dimmed" component="span">{e.revision}</Text>
      </Group>
      <Text size="sm" component="div">
        <When at={e.at} exact />
        {!e.hidden && ` · ${[who, e.ip, e.reason && t.because(isolated(e.reason))].filter(Boolean).join(' · ')}`}
      </Text>
      {!e.hidden && (
        <>
          <Changes of={e.change} more={e.more} />
          <Group gap="md" fz="sm">
            <UnstyledButton className="steps-head" fz="sm" onClick={toggle} aria-expanded={open} aria-controls={own}>
              {t.recorded} {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
            </UnstyledButton>
            <Link to="/history/$type/$id" params={{ type, id }} search={{ view: 'state', at: e.at }}>{t.stateThen}</Link>
          </Group>
          <div id={own} hidden={!open}>
            {open && (
              <>
                <Lines of={linesOf(e.data)} label={t.recorded} />
                <Facts of={[[audit.command, <Code key="c">{e.action}</Code>], [audit.correlation, <CopyText key="k" text={e.correlationId} />]]} />
              </>
            )}
          </div>
        </>
      )}
    </Stack>
  )
}

/** Changes are fields with what they were and what they are. */
function Changes({ of: list, more }: { of: Change[]; more: boolean }) {
  const t = useText(eventHistoryText)
  if (list.length === 0) return <Text size="sm" c="dimmed">{t.nothingChanged}</Text>
  return (
    <>
      <div className="rows">
        <table aria-label={t.changed(list.length)}>
          <thead>
            <tr>
              <th scope="col" style={{ width: '40%' }}>{t.field}</th>
              <th scope="col">{t.before}</th>
              <th scope="col">{t.after}</th>
            </tr>
          </thead>
          <tbody>
            {list.map((c) => (
              <tr key={c.field}>
                <td className="whole">{c.field}</td>
                <td className="whole"><Value of={c.from} /></td>
                <td className="whole"><Value of={c.to} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more && <Text size="sm" c="dimmed">{t.tooMany}</Text>}
    </>
  )
}

/** Lines are the fields of a state, or of what was recorded. */
function Lines({ of: lines, label }: { of: ReturnType<typeof linesOf>; label: string }) {
  const t = useText(eventHistoryText)
  return (
    <div className="rows">
      <table aria-label={label}>
        <thead>
          <tr>
            <th scope="col" style={{ width: '40%' }}>{t.field}</th>
            <th scope="col">{t.value}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((l) => (
            <tr key={l.field}>
              <td className="whole">{l.field}</td>
              <td className="whole"><Value of={l.value} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Value writes a recorded value for people. */
function Value({ of: value }: { of: unknown }) {
  const t = useText(eventHistoryText)
  const f = useFormat()
  const hidden = hiddenIn(value)
  if (hidden) return <Text span inherit c="dimmed">({t.hidden[hidden] ?? hidden})</Text>
  const money = moneyIn(value)
  if (money) return f.money(money.amount, money.currency)
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'boolean') return value ? t.yes : t.no
  if (isInstant(value)) return <time dateTime={value}>{f.exact(value)}</time>
  return typeof value === 'string' ? isolated(value) : JSON.stringify(value)
}

/** useInstant is an instant of the address as a field has it: in the zone of the organization, to the minute. */
function useInstant(given: string | undefined): [local: string, set: (local: string) => void, chosen: (local: string) => string | undefined] {
  const { zone: { timezone } } = useFormat()
  const first = useMemo(() => (given && !Number.isNaN(Date.parse(given)) ? localOf(Date.parse(given), timezone) : ''), [given, timezone])
  const [local, set] = useState(first)
  // Who changes nothing means the exact instant, and not the beginning of its minute.
  return [local, set, (l) => (l === '' ? undefined : l === first ? given : instantOf(l, timezone).toISOString())]
}

/** StateThen shows the thing as it was at an instant; without one as it is. */
function StateThen() {
  const { at } = useSearch({ from: '/history/$type/$id' })
  return <StateAt key={at} at={at} />
}

function StateAt({ at }: { at: string | undefined }) {
  const t = useText(eventHistoryText)
  const f = useFormat()
  const { type, id } = useParams({ from: '/history/$type/$id' })
  const navigate = useNavigate({ from: '/history/$type/$id' })
  const [local, setLocal, chosen] = useInstant(at)
  const read = api.useQuery('get', '/history/{type}/{id}/state', { params: { path: { type, id }, query: { at } } })
  return (
    <Stack gap="sm">
      <Form onSubmit={() => void navigate({ search: { view: 'state', at: chosen(local) }, replace: true })}>
        <Group align="end" gap="xs">
          <InstantField label={t.at} value={local} onChange={setLocal} />
          <Button type="submit" variant="default">{t.show}</Button>
        </Group>
      </Form>
      <Loaded read={read} height={400}>
        {(s) => (
          <>
            <Text size="sm">{t.lastEvent(s.revision, f.exact(s.lastAt))}</Text>
            <Lines of={linesOf(s.state)} label={t.views.state} />
          </>
        )}
      </Loaded>
    </Stack>
  )
}

/** Difference compares two instants; without any, the last day. */
function Difference() {
  const { from, to } = useSearch({ from: '/history/$type/$id' })
  const [yesterday] = useState(() => new Date(serverNow() - 86_400_000).toISOString())
  return <Between key={`${from} ${to}`} from={from ?? yesterday} to={to} />
}

function Between({ from, to }: { from: string; to: string | undefined }) {
  const t = useText(eventHistoryText)
  const { type, id } = useParams({ from: '/history/$type/$id' })
  const navigate = useNavigate({ from: '/history/$type/$id' })
  const [since, setSince, chosenSince] = useInstant(from)
  const [until, setUntil, chosenUntil] = useInstant(to)
  const read = api.useQuery('get', '/history/{type}/{id}/diff', { params: { path: { type, id }, query: { from, to } } })
  return (
    <Stack gap="sm">
      <Form onSubmit={() => void navigate({ search: { view: 'diff', from: chosenSince(since), to: chosenUntil(until) }, replace: true })}>
        <Group align="end" gap="xs">
          <InstantField label={t.from} value={since} onChange={setSince} required />
          <InstantField label={t.to} value={until} onChange={setUntil} />
          <Button type="submit" variant="default">{t.show}</Button>
        </Group>
      </Form>
      <Loaded read={read} height={400}>
        {(d) => (
          <>
            <Text size="sm">{d.fromRevision === null ? t.fromNothing(d.toRevision) : t.fromEvent(d.fromRevision, d.toRevision)}</Text>
            {d.change.length === 0 ? <Text size="sm" c="dimmed">{t.noDifference}</Text> : <Changes of={d.change} more={d.more} />}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

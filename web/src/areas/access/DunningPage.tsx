import { ActionIcon, Menu, Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { given } from '../../app/params'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { dunningText } from '../../text/dunning'
import { useFormat } from '../../text/format'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { later } from '../../ui/later'
import { EllipsisVertical } from '../../ui/icons'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { State, type Tone } from '../../ui/State'
import { exactly, Views } from '../../ui/Views'
import { When } from '../../ui/When'
import { useCounts } from './counts'
import { type HoldAct, holdActs, holdNeeds } from './holdActs'
import { dunningStates } from './routes'

const WriteOff = later(() => import('../billing/WriteOff').then((m) => m.WriteOff))
const PlaceHold = later(() => import('./Holds').then((m) => m.PlaceHold))
const LiftHold = later(() => import('./Holds').then((m) => m.LiftHold))

type Owing = Row<'/dunning'>

/** dunningTones is how far a customer is from full access. */
export const dunningTones: Record<string, Tone> = {
  none: 'good', reminding: 'attention', walled_garden: 'bad', suspended: 'bad', written_off: 'quiet',
}

/** isGivenUp: what was overdue was written off, and counts for the access alone. */
const isGivenUp = (r: Owing) => r.state === 'written_off' && r.due - r.writtenOff <= 0

const nameOf = (r: Owing) => r.subscriber?.name ?? r.subscriber?.accountNumber ?? ''

type Doing = { act: HoldAct | 'write_off'; row: Owing } | null

/** DunningPage answers: who owes, how far has it come, and what happens next to whom? */
export default function DunningPage() {
  const t = useText(dunningText)
  const app = useText(appText)
  const filters = useSearch({ from: '/dunning' })
  const navigate = useNavigate({ from: '/dunning' })
  const list = useRows('/dunning', filters)
  const [doing, setDoing] = useState<Doing>(null)
  const columns = useColumns(setDoing)
  const { state, hold } = filters
  const { dunning: counts } = useCounts()
  const f = useFormat()
  const named = (name: string, n: number | undefined) => (n === undefined ? name : `${name} (${f.number(n)})`)
  return (
    <Page title={app.dunning} wide actions={<Link to="/policies">{t.toPolicies}</Link>}>
      <Views
        label={t.state}
        current={hold ? 'hold' : (state ?? 'all')}
        of={[
          ['all', t.all, (inner) => <Link to="/dunning" search={given({ subscriberId: filters.subscriberId })} activeOptions={exactly} {...inner} />],
          ...dunningStates.map((s): Parameters<typeof Views<string>>[0]['of'][number] => [
            s, named(t.states[s] ?? s, counts[s]), (inner) => <Link to="/dunning" search={given({ subscriberId: filters.subscriberId, state: s })} activeOptions={exactly} {...inner} />,
          ]),
          ['hold', t.onHold, (inner) => <Link to="/dunning" search={given({ subscriberId: filters.subscriberId, hold: true })} activeOptions={exactly} {...inner} />],
        ]}
      />
      <Text size="sm" c="dimmed">{hold ? t.onHoldMeaning : state ? t.meanings[state] : t.allMeaning}</Text>
      <CustomerFilter
        id={filters.subscriberId}
        onClear={() => void navigate({ search: { ...filters, subscriberId: undefined } })}
      />
      <DataTable
        list={list}
        columns={columns}
        rowKey={(r) => r.subscriptionId}
        label={app.dunning}
        empty={state || hold || filters.subscriberId
          ? <Empty title={t.noneHere} />
          : <Empty title={t.none} action={<Link to="/policies">{t.toPolicies}</Link>}>{t.noneHint}</Empty>}
      />
      {doing?.act === 'write_off' && <WriteOff id={doing.row.subscriberId} name={nameOf(doing.row)} onClose={() => setDoing(null)} />}
      {(doing?.act === 'place' || doing?.act === 'move') && <PlaceHold of={{ ...doing.row, name: nameOf(doing.row) }} onClose={() => setDoing(null)} />}
      {doing?.act === 'lift' && <LiftHold of={{ ...doing.row, name: nameOf(doing.row) }} onClose={() => setDoing(null)} />}
    </Page>
  )
}

function useColumns(begin: (doing: Doing) => void): Column<Owing>[] {
  const t = useText(dunningText)
  const f = useFormat()
  return [
    { id: 'customer', title: t.customer, cell: (r) => <CustomerLink of={r.subscriber} /> },
    {
      id: 'state', title: t.state, width: 180, narrow: 110,
      cell: (r) => isGivenUp(r) ? <State tone="quiet" title={t.givenUpMeaning}>{t.givenUp}</State>
        : <State tone={dunningTones[r.state] ?? 'quiet'} title={t.meanings[r.state]}>{t.states[r.state] ?? r.state}</State>,
    },
    { id: 'since', title: t.since, width: 136, wideOnly: true, cell: (r) => <When at={r.since} /> },
    { id: 'due', title: t.due, width: 124, narrow: 106, figure: true, cell: (r) => <Money amount={r.due - r.writtenOff} currency={r.currency} /> },
    { id: 'days', title: t.days, width: 70, figure: true, wideOnly: true, cell: (r) => f.number(r.overdueDays) },
    { id: 'next', title: t.next, width: 244, wideOnly: true, cell: (r) => <Next of={r} /> },
    { id: 'hold', title: t.hold, width: 140, wideOnly: true, cell: (r) => <Held of={r} /> },
    { id: 'do', title: '', width: 44, narrow: 34, cell: (r) => <Actions of={r} begin={begin} /> },
  ]
}

function Next({ of: { next } }: { of: Owing }) {
  const t = useText(dunningText)
  const f = useFormat()
  const now = useNow()
  if (!next) return <Text span inherit c="dimmed">{t.nothingNext}</Text>
  return <span title={f.exact(next.at)}>{t.nextWhen(t.states[next.state] ?? next.state, f.relative(next.at, now))}</span>
}

/** Held tells of a hold that a person placed, else of a clock that stands still by itself. */
function Held({ of: { hold, stopped } }: { of: Owing }) {
  const t = useText(dunningText)
  const f = useFormat()
  if (hold) return <span title={`${hold.reason} (${f.exact(hold.until)})`}>{t.heldUntil(f.day(hold.until))}</span>
  if (!stopped) return null
  return <State tone="quiet" title={t.stops[stopped.cause] ?? stopped.cause}>{t.stopsShort[stopped.cause] ?? t.stopped}</State>
}

function Actions({ of: r, begin }: { of: Owing; begin: (doing: Doing) => void }) {
  const t = useText(dunningText)
  const may = useMay()
  const navigate = useNavigate()
  const customer = { to: '/customers/$id', params: { id: r.subscriberId } } as const
  const name = nameOf(r)
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={26} aria-label={t.actions(name)}>
          <EllipsisVertical size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void navigate(customer)}>{t.open}</Menu.Item>
        {(may('POST /payments/cash') || may('POST /payments/initiate')) && (
          <Menu.Item onClick={() => void navigate({ ...customer, search: { pay: true } })}>{t.pay}</Menu.Item>
        )}
        {/* What has ended is never on the board. */}
        {holdActs(r.hold !== null).filter((act) => may(holdNeeds[act])).map((act) => (
          <Menu.Item key={act} onClick={() => begin({ act, row: r })}>{t[act]}</Menu.Item>
        ))}
        {r.due - r.writtenOff > 0 && may('POST /subscribers/{id}/write-off') && (
          <Menu.Item color="var(--tone-bad)" onClick={() => begin({ act: 'write_off', row: r })}>{t.writeOff}</Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

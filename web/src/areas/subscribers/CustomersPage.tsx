import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAll } from '../../api/all'
import { type Filters as RowFilters, useRows } from '../../api/rows'
import { serverNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { subscribersText } from '../../text/subscribers'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Plus, X } from '../../ui/icons'
import { Balance } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { PageLink } from '../../ui/PageLink'
import { PartNote } from '../../ui/PartNote'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { CustomerCounts } from './CustomerCounts'
import { accessTones, type Customer, nameOf, presenceOf, presenceTones } from './words'

const allPlans = {}
// The list of looks has the routers' names for everybody who reads customers.
const everyRouter = {}
const week = 7 * 86_400_000

/** CustomersPage answers: who are our customers, and which of them have this in common? */
export default function CustomersPage() {
  const t = useText(subscribersText)
  const app = useText(appText)
  const may = useMay()
  const { ends, ...filters } = useSearch({ from: '/customers' })
  const navigate = useNavigate({ from: '/customers' })
  const plans = useAll('/plans', allPlans)
  const change = (part: Partial<typeof filters & { ends: typeof ends }>) => {
    void navigate({ search: { ...filters, ends, ...part }, replace: true })
  }
  const { sort: _, ...restricts } = { ...filters, ends }
  const any = Object.values(restricts).some((v) => v !== undefined)
  const planNames = Object.fromEntries((plans.rows ?? []).map((p) => [p.id, p.name]))
  return (
    <Page
      title={app.customers}
      wide
      actions={may('POST /subscribers') && (
        <Button component={Link} to="/customers/new" leftSection={<Plus size={14} aria-hidden />}>{t.add}</Button>
      )}
    >
      <CustomerCounts />
      <Filters any={any} onClear={() => void navigate({ search: { sort: filters.sort } })}>
        <TextFilter value={filters.q} label={t.filter} onChange={(q) => change({ q })} />
        <ChoiceFilter value={filters.access} label={t.access} names={t.accesses} onChange={(access) => change({ access })} />
        <ChoiceFilter value={flagText(filters.online)} label={t.online} names={t.onlines} onChange={(v) => change({ online: flag(v) })} />
        {filters.offBehind && <BehindFilter router={filters.offBehind} onClear={() => change({ offBehind: undefined })} />}
        <ChoiceFilter value={filters.planId} label={t.plan} names={planNames} onChange={(planId) => change({ planId })} />
        <PartNote of={plans} />
        <ChoiceFilter value={flagText(filters.owes)} label={t.owes} names={t.owe} onChange={(v) => change({ owes: flag(v) })} />
        <ChoiceFilter value={ends} label={t.ends} names={t.weeks} onChange={(v) => change({ ends: v })} />
        <ChoiceFilter value={filters.status} label={t.status} names={t.statuses} onChange={(status) => change({ status })} />
        <TextFilter value={filters.tag} label={t.tag} width={140} onChange={(tag) => change({ tag })} />
        <ChoiceFilter value={filters.sort} label={t.sort} names={t.sorts} onChange={(sort) => change({ sort })} />
      </Filters>
      <List filters={{ ...filters, ...usePaidTime(ends) }} any={any} />
    </Page>
  )
}

/** BehindFilter says behind which router those are off who are listed, and takes the filter away. */
function BehindFilter({ router, onClear }: { router: string; onClear: () => void }) {
  const t = useText(subscribersText)
  const looks = useAll('/access-audits', everyRouter)
  const name = looks.rows?.find((r) => r.deviceId === router)?.deviceName
  return (
    <Button variant="light" px="xs" maw="100%" title={t.notBehind} rightSection={<X size={14} aria-hidden />} onClick={onClear}>
      {t.offBehind(name)}
    </Button>
  )
}

/** List has the rows. It alone is drawn anew when more of them come. */
function List({ filters, any }: { filters: RowFilters<'/subscribers'>; any: boolean }) {
  const t = useText(subscribersText)
  const words = useText(uiText)
  const app = useText(appText)
  const list = useRows('/subscribers', filters)
  const columns = useColumns()
  return (
    <DataTable
      list={list}
      columns={columns}
      rowKey={(c) => c.id}
      label={app.customers}
      empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
    />
  )
}

const flag = (v: string | undefined) => (v === undefined ? undefined : v === 'true')
const flagText = (v: boolean | undefined) => (v === undefined ? undefined : v ? 'true' as const : 'false' as const)

/** usePaidTime gives the filter for when the paid time ends, by the organization's days. */
function usePaidTime(ends: 'week' | 'past' | undefined) {
  const f = useFormat()
  const today = f.date(serverNow())
  return useMemo(() => {
    if (ends === 'past') return { paidBefore: today }
    if (ends === 'week') return { paidAfter: today, paidBefore: f.date(serverNow() + week) }
    return {}
  }, [ends, today, f])
}

/** useColumns gives the columns. What support compares with the words of a caller is never cut: account and phone. */
function useColumns(): Column<Customer>[] {
  const t = useText(subscribersText)
  return useMemo(() => [
    { id: 'name', title: t.name, cell: (c) => <PageLink to={`/customers/${c.id}`}>{nameOf(c, t)}</PageLink> },
    { id: 'account', title: t.account, width: 100, wideOnly: true, cell: (c) => <span className="figure">{c.accountNumber}</span> },
    { id: 'plan', title: t.plan, width: 120, wideOnly: true, cell: (c) => c.services.map((s) => s.planName).join(', ') },
    { id: 'paidUntil', title: t.paidUntil, width: 128, wideOnly: true, cell: (c) => <When at={c.paidUntil} /> },
    { id: 'access', title: t.access, width: 138, narrow: 120, cell: (c) => <AccessWord of={c} /> },
    { id: 'online', title: t.online, width: 118, wideOnly: true, cell: (c) => <PresenceWord of={c} /> },
    {
      id: 'balance', title: t.balance, width: 136, narrow: 116, figure: true,
      cell: (c) => <Balance amount={c.balance} currency={c.currency} />,
    },
    { id: 'phone', title: t.phone, width: 140, wideOnly: true, cell: (c) => <span className="figure">{c.phone}</span> },
    { id: 'tags', title: t.tags, width: 64, wideOnly: true, cell: (c) => c.tags.join(', ') },
  ], [t])
}

/** PresenceWord says whether a customer is online; for who is off behind a router it names the router. */
function PresenceWord({ of: c }: { of: Customer }) {
  const t = useText(subscribersText)
  const f = useFormat()
  const presence = presenceOf(c)
  const { outage } = c
  return (
    <State tone={presenceTones[presence]} title={outage ? t.awayHint(outage.deviceName, f.exact(outage.since)) : undefined}>
      {outage ? t.away(outage.deviceName) : t.presences[presence]}
    </State>
  )
}

/** AccessWord says what a customer may have now; who is blocked or forgotten is called so. */
function AccessWord({ of: c }: { of: Customer }) {
  const t = useText(subscribersText)
  if (c.status !== 'active') return <State tone={c.status === 'blocked' ? 'bad' : 'quiet'}>{t.statuses[c.status]}</State>
  if (c.access === null) return <State tone="quiet">{t.noService}</State>
  return (
    <State tone={accessTones[c.access] ?? 'quiet'} title={c.access === 'walled_garden' ? t.walledGarden : undefined}>
      {t.accesses[c.access]}
    </State>
  )
}

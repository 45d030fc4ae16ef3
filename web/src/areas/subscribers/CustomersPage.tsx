import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { subscribersText } from '../../text/subscribers'
import { appText } from '../../text/app'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Balance } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { State, type Tone } from '../../ui/State'
import { When } from '../../ui/When'

type Customer = Row<'/subscribers'>

const tones: Record<string, Tone> = { active: 'good', blocked: 'bad', forgotten: 'quiet' }

/** CustomersPage answers: who are our customers, and which of them have this in common? */
export default function CustomersPage() {
  const t = useText(subscribersText)
  const words = useText(uiText)
  const app = useText(appText)
  const filters = useSearch({ from: '/customers' })
  const navigate = useNavigate({ from: '/customers' })
  const list = useRows('/subscribers', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<Customer>[] = [
    { id: 'name', title: t.name, cell: (c) => <Link to="/customers/$id" params={{ id: c.id! }}>{nameOf(c, t)}</Link> },
    { id: 'account', title: t.account, width: 120, cell: (c) => <span className="figure">{c.accountNumber}</span> },
    { id: 'phone', title: t.phone, width: 140, wideOnly: true, cell: (c) => <span className="figure">{c.phone}</span> },
    {
      id: 'status', title: t.status, width: 110,
      cell: (c) => <State tone={tones[c.status] ?? 'quiet'}>{t.statuses[c.status as 'active'] ?? c.status}</State>,
    },
    { id: 'tags', title: t.tags, wideOnly: true, cell: (c) => c.tags.join(', ') },
    {
      id: 'balance', title: t.balance, width: 140, figure: true,
      cell: (c) => <Balance amount={c.balance} currency={c.currency} />,
    },
    { id: 'since', title: t.since, width: 130, wideOnly: true, cell: (c) => <When at={c.createdAt} /> },
  ]
  return (
    <Page title={app.customers} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <TextFilter value={filters.q} label={t.filter} onChange={(q) => change({ q })} />
        <ChoiceFilter value={filters.status} label={t.status} names={t.statuses} onChange={(status) => change({ status })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(c) => c.id!}
        label={app.customers}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}

/** nameOf is the customer's name, or that the person was forgotten. */
export function nameOf(c: Pick<Customer, 'firstName' | 'lastName'>, t: { forgotten: string }): string {
  return [c.firstName, c.lastName].filter(Boolean).join(' ') || t.forgotten
}

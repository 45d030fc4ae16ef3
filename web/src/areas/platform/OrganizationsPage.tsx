import { Button } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { platformText } from '../../text/platform'
import { uiText } from '../../text/ui'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Plus } from '../../ui/icons'
import { OrganizationName } from '../../ui/OrganizationName'
import { Page } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'

type Organization = Row<'/orgs'>

/** OrganizationsPage answers: which ISPs work on this platform? */
export default function OrganizationsPage() {
  const t = useText(platformText)
  const app = useText(appText)
  const f = useFormat()
  const may = useMay()
  const words = useText(uiText)
  const filters = useSearch({ from: '/orgs' })
  const navigate = useNavigate({ from: '/orgs' })
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const list = useRows('/orgs', filters)
  const columns: Column<Organization>[] = [
    { id: 'name', title: t.name, cell: (o) => <Link to="/orgs/$id" params={{ id: o.id }}><OrganizationName of={o} /></Link> },
    {
      id: 'status', title: t.status, width: 140, narrow: 100,
      cell: (o) => <State tone={o.status === 'active' ? 'good' : 'bad'}>{t.statuses[o.status]}</State>,
    },
    { id: 'customers', title: t.customers, width: 110, narrow: 76, figure: true, cell: (o) => f.number(o.subscribers) },
    { id: 'prefix', title: t.prefix, width: 142, wideOnly: true, cell: (o) => o.invoicePrefix },
    { id: 'since', title: t.since, width: 132, wideOnly: true, cell: (o) => <When at={o.createdAt} /> },
  ]
  const create = may('POST /orgs') && (
    <Button component={Link} to="/orgs/new" leftSection={<Plus size={14} aria-hidden />}>{t.create}</Button>
  )
  return (
    <Page title={app.organizations} wide actions={create}>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <TextFilter value={filters.q} label={t.find} onChange={(q) => change({ q })} />
        <ChoiceFilter value={filters.status} label={t.status} names={t.statuses} onChange={(status) => change({ status })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(o) => o.id}
        label={app.organizations}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import { appText } from '../../text/app'
import { approvalsText } from '../../text/approvals'
import { useText } from '../../text/catalogue'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { tones } from './tones'

type Approval = Row<'/approvals'>

/** ApprovalsPage answers: what waits for a second person, and what became of the rest? */
export default function ApprovalsPage() {
  const t = useText(approvalsText)
  const app = useText(appText)
  const words = useText(uiText)
  const filters = useSearch({ from: '/approvals' })
  const navigate = useNavigate({ from: '/approvals' })
  const list = useRows('/approvals', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<Approval>[] = [
    { id: 'kind', title: t.kind, width: 190, narrow: 140, cell: (r) => <Link to="/approvals/$id" params={{ id: r.id }}>{t.kinds[r.kind]}</Link> },
    { id: 'customer', title: t.customer, wideOnly: true, cell: (r) => (r.subscriberId ? <CustomerLink of={r.subscriber} /> : t.several) },
    { id: 'by', title: t.askedBy, width: 150, wideOnly: true, cell: (r) => r.requestedBy?.name ?? t.former },
    { id: 'at', title: t.asked, width: 136, wideOnly: true, cell: (r) => <When at={r.requestedAt} /> },
    { id: 'state', title: t.state, width: 200, narrow: 130, cell: (r) => <State tone={tones[r.state]}>{t.states[r.state]}</State> },
    { id: 'amount', title: t.amount, width: 124, narrow: 106, figure: true, cell: (r) => <Money amount={r.amount} currency={r.currency} /> },
  ]
  return (
    <Page title={app.approvals} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={filters.state} label={t.state} names={t.states} onChange={(state) => change({ state })} />
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(r) => r.id}
        label={app.approvals}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.hint}</Empty>}
      />
    </Page>
  )
}

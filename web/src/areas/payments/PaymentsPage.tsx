import { Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useRows } from '../../api/rows'
import { appText } from '../../text/app'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { paymentsText } from '../../text/payments'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { SpanFilter } from '../../ui/SpanFilter'
import { When } from '../../ui/When'
import { type PaymentRow, PaymentState, whyOf } from './words'

/** PaymentsPage answers: whose phone is asked now, and what became of the others? */
export default function PaymentsPage() {
  const t = useText(paymentsText)
  const words = useText(uiText)
  const app = useText(appText)
  const filters = useSearch({ from: '/payments' })
  const navigate = useNavigate({ from: '/payments' })
  const list = useRows('/payments', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<PaymentRow>[] = [
    {
      id: 'state', title: t.state, width: 145, narrow: 120,
      cell: (p) => <Link to="/payments/$id" params={{ id: p.id }}><PaymentState of={p} /></Link>,
    },
    { id: 'customer', title: t.customer, cell: (p) => <CustomerLink of={p.subscriber} /> },
    { id: 'at', title: t.at, width: 136, wideOnly: true, cell: (p) => <When at={p.initiatedAt} /> },
    {
      id: 'amount', title: t.amount, width: 124, narrow: 106, figure: true,
      cell: (p) => <Money amount={p.amount} currency={p.currency} />,
    },
    {
      id: 'how', title: t.howPaid, width: 194, wideOnly: true,
      cell: (p) => (p.phone ? t.promptTo(p.phone) : (t.gateways[p.gateway] ?? p.gateway)),
    },
    { id: 'by', title: t.staff, width: 110, wideOnly: true, cell: (p) => p.by && (p.by.name ?? t.formerStaff) },
    { id: 'outcome', title: t.outcome, width: 250, wideOnly: true, cell: (p) => <Outcome of={p} /> },
  ]
  return (
    <Page title={app.payments} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter
          value={filters.status}
          label={t.state}
          names={t.statuses}
          onChange={(status) => change({ status })}
        />
        <SpanFilter of={filters} onChange={change} />
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(p) => p.id}
        label={app.payments}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.paymentsNone}>{t.paymentsHint}</Empty>}
      />
    </Page>
  )
}

/** Outcome is the receipt of a payment, or in words why there is none. */
function Outcome({ of }: { of: PaymentRow }) {
  const t = useText(paymentsText)
  const why = whyOf(of, t, serverNow())
  if (why) return <Text span inherit title={why}>{why}</Text>
  if (!of.receiptId) return null
  return (
    <Link to="/receipts/$id" params={{ id: of.receiptId }}>
      {of.receiptNumber ?? t.noNumber}
    </Link>
  )
}

import { Checkbox } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useRows } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { refundsText } from '../../text/refunds'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Money } from '../../ui/Money'
import { OnlyFilter } from '../../ui/OnlyFilter'
import { Page } from '../../ui/Page'
import { When } from '../../ui/When'
import { type RefundRow, RefundState } from './refund'

/** RefundsPage answers: what goes back to payers, how far is it, and what waits for somebody? */
export default function RefundsPage() {
  const t = useText(refundsText)
  const words = useText(uiText)
  const filters = useSearch({ from: '/refunds' })
  const navigate = useNavigate({ from: '/refunds' })
  const list = useRows('/refunds', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<RefundRow>[] = [
    {
      id: 'receipt', title: t.receipt, width: 148, narrow: 118,
      cell: (r) => <Link to="/receipts/$id" params={{ id: r.receiptId }}>{r.receiptNumber ?? t.receipt}</Link>,
    },
    { id: 'at', title: t.asked, width: 136, wideOnly: true, cell: (r) => <When at={r.requestedAt} /> },
    {
      id: 'customer', title: t.customer,
      cell: (r) => (r.subscriberId ? <CustomerLink of={r.subscriber} /> : t.inSuspense),
    },
    { id: 'state', title: t.state, width: 170, wideOnly: true, cell: (r) => <RefundState of={r} /> },
    {
      id: 'amount', title: t.amount, width: 124, narrow: 106, figure: true,
      cell: (r) => <Money amount={r.amount} currency={r.currency} />,
    },
  ]
  return (
    <Page title={t.refunds} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter value={filters.state} label={t.state} names={t.states} onChange={(state) => change({ state })} />
        <Checkbox
          size="sm"
          label={t.openOnly}
          checked={filters.open ?? false}
          onChange={(e) => change({ open: e.currentTarget.checked || undefined })}
        />
        {filters.receiptId && (
          <OnlyFilter words={t.ofReceipt} title={t.allReceipts} onClear={() => change({ receiptId: undefined })} />
        )}
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(r) => r.id}
        label={t.refunds}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.hint}</Empty>}
      />
    </Page>
  )
}

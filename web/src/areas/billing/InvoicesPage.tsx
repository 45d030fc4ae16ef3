import { Button, Checkbox, Text } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { taxText } from '../../text/tax'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Plus } from '../../ui/icons'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { When } from '../../ui/When'
import { type InvoiceRow, InvoiceState } from './InvoiceState'
import { TaxState } from './TaxState'

/** InvoicesPage answers: what was charged, and what of it is still owed? */
export default function InvoicesPage() {
  const t = useText(billingText)
  const words = useText(uiText)
  const app = useText(appText)
  const tax = useText(taxText)
  const f = useFormat()
  const may = useMay()
  const filters = useSearch({ from: '/invoices' })
  const navigate = useNavigate({ from: '/invoices' })
  const list = useRows('/invoices', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<InvoiceRow>[] = [
    {
      id: 'number', title: t.number, width: 120, narrow: 94,
      cell: (i) => <Link to="/invoices/$id" params={{ id: i.id }}>{i.number ?? t.draft}</Link>,
    },
    { id: 'customer', title: t.customer, cell: (i) => <CustomerLink of={i.subscriber} /> },
    { id: 'state', title: t.state, width: 130, wideOnly: true, cell: (i) => <InvoiceState of={i} /> },
    ...(list.rows.some((i) => i.taxSignature) ? [{
      id: 'tax', title: tax.signature, width: 190, wideOnly: true,
      cell: (i: InvoiceRow) => i.taxSignature && <TaxState of={i.taxSignature.state} title={i.taxSignature.message ?? i.taxSignature.controlNumber ?? undefined} />,
    }] : []),
    { id: 'issued', title: t.issued, width: 136, wideOnly: true, cell: (i) => <When at={i.issuedAt} /> },
    { id: 'dueDate', title: t.dueDate, width: 120, wideOnly: true, cell: (i) => i.dueDate && f.day(i.dueDate) },
    {
      id: 'total', title: t.total, width: 120, figure: true, wideOnly: true,
      cell: (i) => <Money amount={i.total} currency={i.currency} />,
    },
    {
      id: 'due', title: t.due, width: 124, narrow: 106, figure: true,
      cell: (i) => (
        i.due > 0 ? <Money amount={i.due} currency={i.currency} /> : <Text span inherit c="dimmed">–</Text>
      ),
    },
  ]
  const make = may('POST /invoices') && (
    <Button
      renderRoot={(props) => <Link {...props} to="/invoices/new" search={{ subscriberId: filters.subscriberId }} />}
      leftSection={<Plus size={14} aria-hidden />}
    >
      {t.newInvoice}
    </Button>
  )
  return (
    <Page title={app.invoices} wide actions={make}>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <TextFilter value={filters.number} label={t.number} onChange={(number) => change({ number })} />
        <ChoiceFilter value={filters.state} label={t.state} names={t.states} onChange={(state) => change({ state })} />
        <Checkbox
          size="sm"
          label={t.overdueOnly}
          checked={filters.overdue ?? false}
          onChange={(e) => change({ overdue: e.currentTarget.checked || undefined })}
        />
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(i) => i.id}
        label={app.invoices}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
      />
    </Page>
  )
}

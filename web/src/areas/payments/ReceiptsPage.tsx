import { Checkbox } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useRows } from '../../api/rows'
import { usePerson } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { isolated, visible } from '../../text/isolated'
import { paymentsText } from '../../text/payments'
import { uiText } from '../../text/ui'
import { CustomerFilter } from '../../ui/CustomerFilter'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { Money } from '../../ui/Money'
import { OnlyFilter } from '../../ui/OnlyFilter'
import { Page } from '../../ui/Page'
import { SpanFilter } from '../../ui/SpanFilter'
import { When } from '../../ui/When'
import { receiptChannels } from './routes'
import { ReceiptState, type ReceiptRow } from './words'

/** ReceiptsPage answers: what money came, from whom, and where is it? */
export default function ReceiptsPage() {
  const t = useText(paymentsText)
  const words = useText(uiText)
  const app = useText(appText)
  const { platform } = usePerson()
  const filters = useSearch({ from: '/receipts' })
  const navigate = useNavigate({ from: '/receipts' })
  const list = useRows('/receipts', filters)
  const change = (part: Partial<typeof filters>) => void navigate({ search: { ...filters, ...part }, replace: true })
  const any = Object.values(filters).some((v) => v !== undefined)
  const columns: Column<ReceiptRow>[] = [
    {
      id: 'number', title: t.number, width: 148, narrow: 118,
      // The root host has receipts in suspense alone, and no page of one.
      cell: (r) => (platform
        ? <Link to="/suspense" search={{ receipt: r.id }}>{r.receiptNumber ?? t.noNumber}</Link>
        : <Link to="/receipts/$id" params={{ id: r.id }}>{r.receiptNumber ?? t.noNumber}</Link>),
    },
    { id: 'at', title: t.paidAt, width: 136, wideOnly: true, cell: (r) => <When at={r.paidAt} /> },
    { id: 'payer', title: t.payer, wideOnly: true, cell: (r) => payerOf(r) },
    { id: 'channel', title: t.channel, width: 110, wideOnly: true, cell: (r) => (r.kind ? t.kinds[r.kind] : t.channels[r.channel] ?? r.channel) },
    { id: 'customer', title: t.customer, cell: (r) => <CustomerLink of={r.subscriber} /> },
    { id: 'state', title: t.state, width: 170, wideOnly: true, cell: (r) => <ReceiptState of={r} /> },
    {
      id: 'amount', title: t.amount, width: 124, narrow: 106, figure: true,
      cell: (r) => <Money amount={r.amount} currency={r.currency} />,
    },
  ]
  return (
    <Page title={app.receipts} wide>
      <Filters any={any} onClear={() => void navigate({ search: {} })}>
        <TextFilter
          value={filters.receiptNumber}
          label={t.wholeNumber}
          onChange={(receiptNumber) => change({ receiptNumber })}
        />
        <ChoiceFilter value={filters.state} label={t.state} names={{ ...t.states, ...t.statesSought }} onChange={(state) => change({ state })} />
        <Checkbox
          size="sm"
          label={t.unclaimedOnly}
          checked={filters.unclaimed ?? false}
          onChange={(e) => change({ unclaimed: e.currentTarget.checked || undefined })}
        />
        <ChoiceFilter
          value={filters.channel}
          label={t.channel}
          names={Object.fromEntries(receiptChannels.map((c) => [c, t.channels[c] ?? c]))}
          onChange={(channel) => change({ channel })}
        />
        <SpanFilter of={filters} onChange={change} />
        {filters.takenBy && (
          <OnlyFilter
            words={t.onlyTaken(list.rows[0]?.takenBy?.name ?? t.oneOfStaff)}
            title={t.allTakers}
            onClear={() => change({ takenBy: undefined })}
          />
        )}
        <CustomerFilter id={filters.subscriberId} onClear={() => change({ subscriberId: undefined })} />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(r) => r.id}
        label={app.receipts}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.receiptsNone}>{t.receiptsHint}</Empty>}
      />
    </Page>
  )
}

/** typedOf is what the payer typed as reference, for a line of its own; null = nothing. */
export function typedOf(r: Pick<ReceiptRow, 'billRef'>): string | null {
  return r.billRef ? isolated(visible(r.billRef)) : null
}

/** payerOf is who paid, as far as the provider said. */
export function payerOf(r: Pick<ReceiptRow, 'payer'>): string {
  return [r.payer.name && isolated(visible(r.payer.name)), r.payer.phone].filter(Boolean).join(' · ') || '–'
}

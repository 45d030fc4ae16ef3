import { Link, useNavigate } from '@tanstack/react-router'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { behindText } from '../../text/behind'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { isolated } from '../../text/isolated'
import { Behind } from '../../ui/Behind'
import { CustomerLink } from '../../ui/CustomerLink'
import type { Column } from '../../ui/DataTable'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { amountOf, type Opened, rowsOf, sumOf } from './behind'

type Payment = Row<'/reports/collections/receipts'>

/** CollectionsBehind lists the payments of one figure of the report. */
export function CollectionsBehind({ of, opened }: { of: Shape<'CollectionsResponse'>; opened: Opened }) {
  const t = useText(behindText)
  const words = useText(billingText)
  const f = useFormat()
  const navigate = useNavigate({ from: '/collections' })
  const list = useRows('/reports/collections/receipts', rowsOf(of, opened))
  const taker = opened.takenBy && (of.staff.find((s) => s.userId === opened.takenBy)?.name ?? words.former)
  const parts = [
    taker && isolated(taker),
    opened.channel && (words.channels[opened.channel] ?? opened.channel),
    opened.on ? f.day(opened.on) : of.from === of.to ? f.day(of.from) : words.until(f.day(of.from), f.day(of.to)),
  ].filter(Boolean).join(', ')
  const amount = amountOf(sumOf(of, opened) ?? { total: 0, received: 0, takenBack: 0 }, opened.side)
  const columns: Column<Payment>[] = [
    { id: 'customer', title: t.customer, wideOnly: true, cell: (r) => <CustomerLink of={r.subscriber} /> },
    { id: 'why', title: t.why, width: 150, narrow: 100, cell: (r) => whyOf(r, t) },
    {
      id: 'channel', title: words.channel, width: 150, wideOnly: true,
      cell: (r) => (r.channel ? words.channels[r.channel] ?? r.channel : '–'),
    },
    { id: 'came', title: t.came, width: 168, wideOnly: true, cell: (r) => (r.receivedOn ? f.day(r.receivedOn) : <When at={r.paidAt} exact />) },
  ]
  return (
    <Behind
      title={t.titled(t[opened.side], f.money(amount, of.currency), parts)}
      list={list}
      receipt={(r) => <Receipt of={r} />}
      columns={columns}
      booked={t.booked}
      empty={words.nothing}
      onClose={() => void navigate({ search: { from: of.from, to: of.to }, resetScroll: false, replace: true })}
    />
  )
}

/** whyOf says why a payment counts in the figure. */
function whyOf(r: Payment, t: typeof behindText.en): string {
  if (r.why === 'reattributed') return r.side === 'takenBack' ? t.movedAway : t.movedHere
  return t.whys[r.why]
}

/** Receipt leads to the receipt of a payment, or to the batch of a voucher. */
function Receipt({ of: r }: { of: Payment }) {
  const t = useText(behindText)
  if (r.receiptId) return <Link to="/receipts/$id" params={{ id: r.receiptId }}>{r.receiptNumber ?? t.noNumber}</Link>
  if (r.voucherId) return <To way={{ to: '/vouchers', search: { batchId: r.batchId ?? undefined } }}>{t.voucher}</To>
  return t.noReceipt
}

import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { client } from '../api/client'
import { type Row, type Rows, useRows } from '../api/rows'
import { InvoiceState } from '../areas/billing/InvoiceState'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { portalPagesText } from '../text/portalPages'
import { useDescribe } from '../text/statements'
import { ways } from '../text/ways'
import { saveAnswer } from '../ui/save'
import { useOwn } from './accounts'
import { to } from './address'
import { Button, Card, Go, Note, Page, Waiting } from './parts'
import { isOpen } from './said'

const parts = ['invoices', 'receipts', 'statement'] as const

/** Bills answers: what was I charged, what have I paid, and where is the paper? */
export default function Bills({ part }: { part: (typeof parts)[number] }) {
  const t = useText(portalPagesText)
  const { account } = useOwn()
  const names = { invoices: t.bills, receipts: t.receipts, statement: t.statement }
  return (
    <Page title={names[part]}>
      <nav className="tabs" aria-label={t.bills}>
        {parts.map((each) => (
          <Go key={each} to={to(each, { account: account.id })} aria-current={each === part ? 'page' : undefined}>{names[each]}</Go>
        ))}
      </nav>
      {part === 'invoices' ? <Invoices id={account.id} /> : part === 'receipts' ? <Receipts id={account.id} /> : <Statement id={account.id} />}
    </Page>
  )
}

/** List draws the rows of a list as far as they were read. */
function List<R>({ list, empty, rowKey, rows = list.rows, children }: {
  list: Rows<R>
  empty: string
  rowKey: (row: R) => string
  rows?: R[]
  children: (row: R) => ReactNode
}) {
  const t = useText(portalPagesText)
  if (list.isPending) return <Waiting height={200} />
  return (
    <>
      {rows.length === 0 && !list.error && <p className="dim">{empty}</p>}
      <ul className="lines">{rows.map((row) => <li key={rowKey(row)}>{children(row)}</li>)}</ul>
      <Note of={list.error} retry={list.refetch} />
      {list.hasMore && <Button busy={list.isFetchingMore} onClick={list.more}>{t.more}</Button>}
    </>
  )
}

/** Pdf saves a document. */
function Pdf({ of, read }: { of: string; read: () => Promise<{ data?: unknown; response: Response }> }) {
  const t = useText(portalPagesText)
  const file = useMutation({ mutationFn: () => saveAnswer(read) })
  return (
    <>
      <Button busy={file.isPending} aria-label={t.pdfOf(of)} onClick={() => file.mutate()}>{t.pdf}</Button>
      <Note of={file.error} />
    </>
  )
}

type Invoice = Row<'/invoices'>

/** Invoices has those that are to be paid first. */
function Invoices({ id }: { id: string }) {
  const t = useText(portalPagesText)
  const issued = useRows('/invoices', { subscriberId: id, state: 'issued' })
  const partly = useRows('/invoices', { subscriberId: id, state: 'partially_paid' })
  const all = useRows('/invoices', { subscriberId: id })
  const open = [...partly.rows, ...issued.rows].filter(isOpen).sort((a, b) => (a.dueDate ?? '').localeCompare(b.dueDate ?? ''))
  const shown = new Set(open.map((i) => i.id))
  const both: Rows<Invoice> = {
    ...issued,
    isPending: issued.isPending || partly.isPending,
    error: issued.error ?? partly.error,
    hasMore: issued.hasMore || partly.hasMore,
    more: () => {
      if (issued.hasMore) issued.more()
      if (partly.hasMore) partly.more()
    },
  }
  return (
    <>
      <Card title={t.openOnes}>
        <List list={both} rows={open} empty={t.noOpen} rowKey={(i) => i.id}>{(i) => <InvoiceLine of={i} />}</List>
      </Card>
      <Card title={t.otherOnes}>
        <List list={all} rows={all.rows.filter((i) => !shown.has(i.id) && i.state !== 'draft')} empty={t.noInvoices} rowKey={(i) => i.id}>
          {(i) => <InvoiceLine of={i} />}
        </List>
      </Card>
    </>
  )
}

function InvoiceLine({ of: i }: { of: Invoice }) {
  const t = useText(portalPagesText)
  const f = useFormat()
  const name = i.number ? t.invoice(i.number) : t.noNumber
  return (
    <>
      <span className="line-name">{name}</span>
      <b className="figure">{i.due > 0 && i.due < i.total ? t.left(f.money(i.due, i.currency), f.money(i.total, i.currency)) : f.money(i.total, i.currency)}</b>
      <InvoiceState of={i} />
      <span className="dim">{isOpen(i) && i.dueDate ? t.dueOn(f.day(i.dueDate)) : f.day(i.issuedAt ?? i.createdAt)}</span>
      {i.number && <Pdf of={name} read={() => client.GET('/invoices/{id}/pdf', { params: { path: { id: i.id } }, parseAs: 'blob' })} />}
    </>
  )
}

/** Receipts are what was paid. */
function Receipts({ id }: { id: string }) {
  const t = useText(portalPagesText)
  const f = useFormat()
  const list = useRows('/receipts', { subscriberId: id })
  return (
    <Card>
      <List list={list} empty={t.noReceipts} rowKey={(r) => r.id}>
        {(r) => {
          const name = r.receiptNumber ? t.receipt(r.receiptNumber) : t.noNumber
          return (
            <>
              <span className="line-name">{name}</span>
              <b className="figure">{f.money(r.amount, r.currency)}</b>
              <span className="dim">{f.minute(r.paidAt)}{ways[f.language][r.channel]}</span>
              {r.receiptNumber && <Pdf of={name} read={() => client.GET('/receipts/{id}/pdf', { params: { path: { id: r.id } }, parseAs: 'blob' })} />}
            </>
          )
        }}
      </List>
    </Card>
  )
}

/** Statement is every line of the account, with what was owed after it. */
function Statement({ id }: { id: string }) {
  const t = useText(portalPagesText)
  const f = useFormat()
  const describe = useDescribe()
  const list = useRows('/subscribers/{id}/statement', {}, { path: { id } })
  return (
    <Card>
      <Pdf of={t.statement} read={() => client.GET('/subscribers/{id}/statement/pdf', { params: { path: { id } }, parseAs: 'blob' })} />
      <List list={list} empty={t.noStatement} rowKey={(l) => `${l.cause.id}${l.kind}${l.at}${l.debit}${l.credit}`}>
        {(l) => (
          <>
            <span className="line-name">{describe(l)}</span>
            <b className="figure">{l.debit !== 0 ? `${t.charged} ${f.money(l.debit, l.currency)}` : `${t.paid} ${f.money(l.credit, l.currency)}`}</b>
            <span className="dim">{f.minute(l.at)}</span>
            <span className="dim">{l.balance < 0 ? t.afterCredit(f.money(-l.balance, l.currency)) : t.after(f.money(l.balance, l.currency))}</span>
          </>
        )}
      </List>
    </Card>
  )
}

import { Anchor, List, Table, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, client } from '../../api/client'
import type { Shape } from '../../api/types'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { taxText } from '../../text/tax'
import { CustomerLink } from '../../ui/CustomerLink'
import { DocumentButton } from '../../ui/DocumentButton'
import { EventHistory } from '../../ui/EventHistory'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { InvoiceActions, printable } from './InvoiceActions'
import { InvoiceState } from './InvoiceState'
import { TaxState } from './TaxState'
import './billing.css'

type Invoice = Shape<'InvoiceDetailResponse'>

/** InvoicePage answers: what is this invoice for, and what became of it? */
export default function InvoicePage() {
  const t = useText(billingText)
  const { id } = useParams({ from: '/invoices/$id' })
  const invoice = api.useQuery('get', '/invoices/{id}', { params: { path: { id } } })
  const i = invoice.data
  return (
    <Page
      title={i ? (i.number ? `${t.invoice} ${i.number}` : t.draft) : t.invoice}
      actions={i && <InvoiceActions of={i} />}
    >
      <Loaded read={invoice} height={420}>
        {(of) => (
          <>
            <Head of={of} />
            <Section title={t.lines}><Lines of={of} /></Section>
            <Section title={t.payments}><Payments of={of} /></Section>
            {of.creditNotes.length > 0 && <Section title={t.notes}><Notes of={of} /></Section>}
            {of.subscriber && <EventHistory type="account" id={of.subscriber.id} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** before is the last moment of a time whose end is not in it, so that its day is the last day. */
const before = (end: string) => new Date(Date.parse(end) - 1).toISOString()

/** Head says whose the invoice is, in what state, and for when. */
function Head({ of: i }: { of: Invoice }) {
  const t = useText(billingText)
  const tax = useText(taxText)
  const f = useFormat()
  return (
    <Facts
      of={[
        [t.state, <><InvoiceState of={i} />{i.order && <Text size="sm" c="dimmed">{t.order}</Text>}</>],
        [t.customer, <CustomerLink of={i.subscriber} account />],
        [t.taxPin, i.taxPin],
        [tax.signature, i.taxSignature && <Signature of={i.taxSignature} />],
        [t.due, <Money amount={i.due} currency={i.currency} strong />],
        [t.dueDate, i.dueDate && f.day(i.dueDate)],
        [t.issued, i.issuedAt && <When at={i.issuedAt} exact />],
        [t.period, i.periodFrom && i.periodTo && t.until(f.day(i.periodFrom), f.day(before(i.periodTo)))],
        [t.replaces, i.replaces && <OtherInvoice of={i.replaces} />],
        [t.replacedBy, i.replacedBy && <OtherInvoice of={i.replacedBy} />],
        [t.voided, i.voidedAt && <When at={i.voidedAt} exact />],
        [t.voidReason, i.voidReason],
      ]}
    />
  )
}

/** Signature says what became of the document at the tax authority: its control number, or why there is none yet. */
function Signature({ of: s }: { of: NonNullable<Invoice['taxSignature']> }) {
  const t = useText(taxText)
  return (
    <>
      <TaxState of={s.state} />
      {s.controlNumber && <Text size="sm">{t.controlNumber}: {s.controlNumber}</Text>}
      {s.verification?.startsWith('https://') && <Anchor size="sm" href={s.verification} target="_blank" rel="noreferrer">{t.verify}</Anchor>}
      {s.message && <Text size="sm">{s.message}</Text>}
      {(s.state === 'queued' || s.state === 'refused') && <Text size="sm" c="dimmed">{t.notSent}</Text>}
      {s.state === 'refused' && <Link to="/tax-documents" search={{ state: 'refused' }}>{t.refusedOnes}</Link>}
    </>
  )
}

/** OtherInvoice leads to the invoice before a correction, or after it. */
function OtherInvoice({ of }: { of: NonNullable<Invoice['replaces']> }) {
  const t = useText(billingText)
  return <Link to="/invoices/$id" params={{ id: of.id }}>{of.number ?? t.draft}</Link>
}

/** Lines is the invoice as the customer reads it: lines, taxes, and what is left to pay. */
function Lines({ of: i }: { of: Invoice }) {
  const t = useText(billingText)
  const f = useFormat()
  const money = (amount: number) => <Money amount={amount} currency={i.currency} />
  const taxed = i.taxes.length > 0
  const net = i.lines.reduce((sum, l) => sum + l.net, 0)
  const sums: [string, number][] = [
    [t.total, i.total],
    [t.paid, -i.paid],
    [t.credited, -i.credited],
    [t.writtenOff, -i.writtenOff],
  ]
  return (
    <div>
      <Table maw={760} verticalSpacing={6} withRowBorders={false} aria-label={t.lines}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t.description}</Table.Th>
            <Table.Th scope="col" ta="right" className="wide-only">{t.quantity}</Table.Th>
            <Table.Th scope="col" ta="right" className="wide-only">{t.unitPrice}</Table.Th>
            <Table.Th scope="col" ta="right">{taxed ? t.gross : t.amount}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {i.lines.map((l, n) => (
            <Table.Tr key={`${n}${l.description}`}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{l.description}</Table.Td>
              <Table.Td ta="right" className="figure wide-only">{f.number(l.quantity)}</Table.Td>
              <Table.Td ta="right" className="wide-only">{money(l.unitPrice)}</Table.Td>
              <Table.Td ta="right">{money(l.gross)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <dl className="sums">
        {taxed && <Sum name={t.net}>{money(net)}</Sum>}
        {i.taxes.map((x) => (
          <Sum key={x.name} name={t.taxOf(x.name, f.number(x.rate))}>{money(x.amount)}</Sum>
        ))}
        {sums.filter(([, amount], n) => n === 0 || amount !== 0).map(([name, amount]) => (
          <Sum key={name} name={name}>{money(amount)}</Sum>
        ))}
        <Sum name={t.due}><Money amount={i.due} currency={i.currency} strong /></Sum>
      </dl>
    </div>
  )
}

/** Sum is one line below the lines. */
function Sum({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

/** Payments lists the receipts that pay the invoice. */
function Payments({ of: i }: { of: Invoice }) {
  const t = useText(billingText)
  if (i.allocations.length === 0) return <Text size="sm" c="dimmed">{i.creditNotes.length > 0 ? t.noPaymentsNow : t.noPayments}</Text>
  return (
    <List size="sm" listStyleType="none">
      {i.allocations.map((a) => (
        <List.Item key={`${a.receiptId}${a.at}`}>
          <Money amount={a.amount} currency={i.currency} /> ·{' '}
          <Link to="/receipts/$id" params={{ id: a.receiptId }}>{a.receiptNumber ?? t.receipt}</Link> ·{' '}
          <When at={a.at} exact />
        </List.Item>
      ))}
    </List>
  )
}

/** Notes lists what was given back. */
function Notes({ of: i }: { of: Invoice }) {
  const t = useText(billingText)
  return (
    <List size="sm" listStyleType="none">
      {i.creditNotes.map((n) => (
        <List.Item key={n.id}>
          <Money amount={n.amount} currency={n.currency} /> · {n.number ?? t.noteDraft}
          {n.taxes.map((x) => <span key={x.name}> · {x.name} {x.rate} %: <Money amount={x.amount} currency={n.currency} /></span>)}
          {n.state === 'voided' && ` (${t.states.voided})`} · <When at={n.issuedAt ?? n.createdAt} exact /> · {n.reason}{' '}
          {n.taxSignature && <TaxState of={n.taxSignature.state} title={n.taxSignature.controlNumber ?? n.taxSignature.message ?? undefined} />}{' '}
          {n.number !== null && printable(n) && (
            <DocumentButton
              read={() => client.GET('/credit-notes/{id}/pdf', { params: { path: { id: n.id } }, parseAs: 'blob' })}
              of={`${t.note} ${n.number}`}
              size="compact-xs"
            />
          )}
        </List.Item>
      ))}
    </List>
  )
}

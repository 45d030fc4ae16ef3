import { Alert, List, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { api, client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { paymentsText } from '../../text/payments'
import { CopyText } from '../../ui/CopyText'
import { CustomerLink } from '../../ui/CustomerLink'
import { DocumentButton } from '../../ui/DocumentButton'
import { EventHistory } from '../../ui/EventHistory'
import { Facts } from '../../ui/Facts'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { payerOf, typedOf } from './ReceiptsPage'
import { isBooked, restOf, setAsideOf } from './booked'
import { useRefunds } from './useRefunds'
import { ReceiptState, type ReceiptRow } from './words'

const Doings = later(() => import('./Doings').then((m) => m.Doings))
const Attribution = later(() => import('./Attribution').then((m) => m.Attribution))
const Refunds = later(() => import('./Refunds').then((m) => m.Refunds))
const Corrections = later(() => import('./Corrections').then((m) => m.Corrections))

/** ReceiptPage answers: where did this money come from, where is it, and how do we know? */
export default function ReceiptPage() {
  const t = useText(paymentsText)
  const { id } = useParams({ from: '/receipts/$id' })
  const receipt = api.useQuery('get', '/receipts/{id}', { params: { path: { id } } })
  const r = receipt.data
  const number = r?.receiptNumber ?? t.noNumber
  return (
    <Page
      title={r ? `${t.receipt} ${number}` : t.receipt}
      name={r && <>{t.receipt} {r.receiptNumber ? <CopyText text={r.receiptNumber} /> : number}</>}
      actions={r && <><Pdf of={r} /><Corrections of={r} /></>}
    >
      <Loaded read={receipt} height={320}>
        {(of) => (
          <>
            <ReceiptFacts of={of} />
            {of.state === 'suspense' ? (
              <Section title={t.states.suspense}><Attribution of={of} key={of.id} /></Section>
            ) : (
              <Section title={t.pays}><Pays of={of} /></Section>
            )}
            <Refunds of={of} />
            <Section title={t.seen}>
              <Sightings of={of} />
              <Text size="sm"><Link to="/receipts/$id/proof" params={{ id: of.id }}>{t.wholeProof}</Link></Text>
            </Section>
            <Doings of={of} />
            <EventHistory type="receipt" id={of.id} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Pdf saves the receipt as a document. Of money that another receipt stands for, that one has it. */
function Pdf({ of: r }: { of: ReceiptRow }) {
  const t = useText(paymentsText)
  if (r.state === 'absorbed') return null
  const read = () => client.GET('/receipts/{id}/pdf', { params: { path: { id: r.id } }, parseAs: 'blob' })
  return <DocumentButton read={read} of={`${t.receipt} ${r.receiptNumber ?? t.noNumber}`} />
}

/** ReceiptFacts says who paid what, when and how. */
export function ReceiptFacts({ of: r, brief }: {
  of: ReceiptRow
  /** brief leaves out what the heading above says already. */
  brief?: boolean
}) {
  const t = useText(paymentsText)
  const f = useFormat()
  const alarm = r.disputed ? t.disputedWhy : r.unclaimed ? t.unclaimedWhy : r.provisional ? t.provisional : null
  return (
    <>
      {alarm && <Alert variant="light" color={r.provisional && !r.unclaimed ? 'gray' : 'yellow'} p="sm">{alarm}</Alert>}
      <Facts
        of={[
          [t.amount, !brief ? <Money amount={r.amount} currency={r.currency} strong /> : null],
          [t.state, !brief ? <ReceiptState of={r} /> : null],
          [t.customer, r.subscriber && <CustomerLink of={r.subscriber} account />],
          [t.payer, !brief ? payerOf(r) : null],
          [t.paidAt, <When at={r.paidAt} exact />],
          [t.channel, r.kind ? t.kinds[r.kind] : t.channels[r.channel] ?? r.channel],
          [t.receivedOn, r.receivedOn && f.day(r.receivedOn)],
          [t.takenBy, r.takenBy && (r.takenBy.name ?? t.formerStaff)],
          [t.typed, r.channel === 'c2b' ? (typedOf(r) ?? t.typedNothing) : null],
          [t.shortcode, r.shortcode && (r.environment === 'sandbox' ? `${r.shortcode} (${t.sandbox})` : r.shortcode)],
          [t.matchedBy, r.matchedBy && (t.by[r.matchedBy] ?? r.matchedBy)],
          [
            t.payment,
            r.paymentId && <Link to="/payments/$id" params={{ id: r.paymentId }}>{t.gateways.mobile_money_stk}</Link>,
          ],
          [
            t.other,
            r.relatedReceiptId && <Link to="/receipts/$id" params={{ id: r.relatedReceiptId }}>{t.receipt}</Link>,
          ],
          [t.reasonGiven, r.state !== 'suspense' ? r.reason : null],
        ]}
      />
    </>
  )
}

/** Pays lists the invoices that the money pays, what went back to the payer or waits for it, and what of it is credit. */
function Pays({ of: r }: { of: ReceiptRow }) {
  const t = useText(paymentsText)
  const refunds = useRefunds(r).data?.data
  if (!refunds) return null
  const booked = isBooked(r)
  const setAside = setAsideOf(refunds)
  const rest = restOf(r, setAside)
  if (r.allocations.length === 0 && r.refunded === 0 && setAside === 0) {
    return <Text size="sm" c="dimmed">{booked ? t.paysNothing : '–'}</Text>
  }
  return (
    <List size="sm" listStyleType="none">
      {r.allocations.map((a) => (
        <List.Item key={`${a.invoiceId} ${a.loss}`}>
          <Money amount={a.amount} currency={r.currency} /> ·{' '}
          <Link to="/invoices/$id" params={{ id: a.invoiceId }}>{a.number ?? t.invoice}</Link>
          {a.loss && ` (${t.recovers})`}
        </List.Item>
      ))}
      {r.refunded > 0 && <List.Item><Money amount={r.refunded} currency={r.currency} /> · {t.wentBack}</List.Item>}
      {setAside > 0 && <List.Item><Money amount={setAside} currency={r.currency} /> · {t.setAside}</List.Item>}
      {rest >= 0.01 && <List.Item><Money amount={rest} currency={r.currency} /> · {t.asCredit}</List.Item>}
    </List>
  )
}

// What a member of staff has entered needs no proof of its sender.
const byStaff = ['cash', 'operator']

/** Sightings lists every message that told about the money. */
function Sightings({ of: r }: { of: ReceiptRow }) {
  const t = useText(paymentsText)
  return (
    <List size="sm" listStyleType="none">
      {r.sightings.map((s) => (
        <List.Item key={`${s.at}${s.kind}`}>
          <When at={s.at} exact /> · {t.seenAs[s.kind] ?? s.kind}
          {!byStaff.includes(s.kind) && ` (${s.verified ? t.verified : t.unverified})`}
          {s.disputes && (
            <Text span inherit c="var(--tone-bad)">
              {' '}· {t.disputes}
              {typeof s.amount === 'number' && <>: <Money amount={s.amount} currency={r.currency} /></>}
              {s.shortcode && ` · ${t.shortcode} ${s.shortcode}`}
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  )
}

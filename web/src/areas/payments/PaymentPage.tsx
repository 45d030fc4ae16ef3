import { Alert, Button, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { readUntilRead } from '../../api/again'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { serverNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { paymentsText } from '../../text/payments'
import { CopyText } from '../../ui/CopyText'
import { CustomerLink } from '../../ui/CustomerLink'
import { Facts } from '../../ui/Facts'
import { RefreshCw } from '../../ui/icons'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { When } from '../../ui/When'
import { type PaymentRow, PaymentState, whyOf } from './words'

// The stream tells when an answer has come; this is for the minutes in which it is broken.
const again = 5_000

/** PaymentPage answers: what became of this payment, and what did the provider say? */
export default function PaymentPage() {
  const t = useText(paymentsText)
  const f = useFormat()
  const { id } = useParams({ from: '/payments/$id' })
  const payment = api.useQuery('get', '/payments/{id}', { params: { path: { id } } }, {
    refetchInterval: (query) => readUntilRead(query) || (query.state.data?.status === 'PENDING' && again),
  })
  const p = payment.data
  return (
    <Page
      title={p ? `${t.payment} ${f.money(p.amount, p.currency)}` : t.payment}
      actions={p && p.status !== 'SUCCESS' && p.checkoutRequestId && p.gateway === 'mobile_money_stk' && <AskNow of={p} />}
    >
      <Loaded read={payment} height={220}>{(of) => <Story of={of} />}</Loaded>
    </Page>
  )
}

/** AskNow has the provider asked what became of the payment. */
function AskNow({ of }: { of: PaymentRow }) {
  const t = useText(paymentsText)
  const may = useMay()
  const ask = useWrite('post', '/payments/query', {
    told: (answer) => ('amount' in answer ? (answer.providerAsked ? t.askedNow : t.askedLately)(t.statuses[answer.status]) : t.askedAccepted),
  })
  if (!may('POST /payments/query')) return null
  return (
    <>
      <Button
        variant="default"
        leftSection={<RefreshCw size={14} aria-hidden />}
        loading={ask.isPending}
        onClick={() => ask.mutate({ body: { paymentId: of.id } })}
      >
        {t.askNow}
      </Button>
      {ask.error && <ProblemNote of={ask.error} />}
    </>
  )
}

/** Story tells the payment from the question to the answer. */
function Story({ of: p }: { of: PaymentRow }) {
  const t = useText(paymentsText)
  const f = useFormat()
  const cash = p.gateway === 'cash'
  const why = whyOf(p, t, serverNow()) ?? t.paid
  const lasted = p.settledAt && !cash ? (Date.parse(p.settledAt) - Date.parse(p.initiatedAt)) / 1000 : 0
  return (
    <>
      <Alert variant="light" color="gray" role="status" title={<PaymentState of={p} />} p="sm">
        <Text size="sm">{why}</Text>
        {p.message && (
          <Text size="sm" c="dimmed">
            {p.reason === 'reversed' ? t.reasonGiven : t.providerSaid}: {p.message}
          </Text>
        )}
      </Alert>
      <Facts
        of={[
          [t.customer, <CustomerLink of={p.subscriber} account />],
          [t.amount, <Money amount={p.amount} currency={p.currency} strong />],
          [t.howPaid, t.gateways[p.gateway] ?? p.gateway],
          [
            t.receiptOf,
            p.receiptId && (
              <Link to="/receipts/$id" params={{ id: p.receiptId }}>{p.receiptNumber ?? t.noNumber}</Link>
            ),
          ],
          [
            t.invoice,
            p.invoiceId && (
              <Link to="/invoices/$id" params={{ id: p.invoiceId }}>{p.invoiceNumber ?? t.invoice}</Link>
            ),
          ],
          [t.phoneAsked, p.phone],
          [cash ? t.takenBy : t.askedBy, p.by && (p.by.name ?? t.formerStaff)],
          [cash ? t.taken : t.asked, <When at={p.initiatedAt} exact />],
          [t.settled, p.settledAt && !cash ? <When at={p.settledAt} exact /> : null],
          [t.lasted, lasted > 0 ? f.duration(Math.max(1, Math.round(lasted))) : null],
          [t.checks, p.attempts > 0 ? t.times(p.attempts) : null],
          [t.checkoutId, p.checkoutRequestId && <CopyText text={p.checkoutRequestId} />],
        ]}
      />
    </>
  )
}

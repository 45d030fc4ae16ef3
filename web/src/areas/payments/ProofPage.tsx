import { Button, Stack, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { paymentsText } from '../../text/payments'
import { proofText } from '../../text/proof'
import { refundsText } from '../../text/refunds'
import { CustomerLink } from '../../ui/CustomerLink'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { ReceiptFacts } from './ReceiptPage'
import './payments.css'

type Step = Shape<'ProofStep'>
type Message = NonNullable<Step['message']>

/** ProofPage answers: how do we know of this money, who decided what, and where was each part of it? */
export default function ProofPage() {
  const t = useText(proofText)
  const words = useText(paymentsText)
  const { id } = useParams({ from: '/receipts/$id/proof' })
  const proof = api.useQuery('get', '/receipts/{id}/proof', { params: { path: { id } } })
  const number = proof.data?.receipt.receiptNumber ?? words.noNumber
  const title = t.title(number)
  return (
    <Page
      title={title}
      name={<>{t.proof} · <Link to="/receipts/$id" params={{ id }}>{words.receipt} {number}</Link></>}
      actions={<Button variant="default" onClick={() => window.print()}>{t.print}</Button>}
    >
      <Text size="sm" c="dimmed">{t.hint}</Text>
      <Loaded read={proof} height={480}>
        {(of) => (
          <>
            <ReceiptFacts of={of.receipt} />
            <Section title={t.steps}>
              <Stack component="ol" gap="md" m={0} p={0} className="proof-steps">
                {of.steps.map((s) => <StepRow key={s.position} of={s} receipt={of.receipt} />)}
              </Stack>
              {of.more && <Text size="sm">{t.more}</Text>}
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function StepRow({ of: s, receipt }: { of: Step; receipt: Shape<'ProofResponse'>['receipt'] }) {
  const t = useText(proofText)
  const words = useText(paymentsText)
  const refunds = useText(refundsText)
  const reason = s.kind === 'held' && s.reason ? words.heldShort[s.reason] ?? s.reason : s.reason
  return (
    <li>
      <Text fw={500}>
        <When at={s.at} exact /> · {t.kinds[s.kind] ?? s.kind}
        {s.amount !== null && <> · <Money amount={s.amount} currency={receipt.currency} /></>}
        {s.credit && s.kind === 'allocated' && ` · ${t.fromCredit}`}
        {s.credit && (s.kind === 'taken_back' || s.kind === 'recovery_withdrawn') && ` · ${t.toCredit}`}
      </Text>
      <Facts
        of={[
          [words.seen, s.sighting && (words.seenAs[s.sighting] ?? s.sighting)],
          [t.leaves, s.from && <CustomerLink of={s.from} account />],
          [t.account, s.subscriber && <CustomerLink of={s.subscriber} account />],
          [words.invoice, s.invoice && <Link to="/invoices/$id" params={{ id: s.invoice.id }}>{s.invoice.number ?? words.invoice}</Link>],
          [t.found, s.rule && s.refundId === null ? words.by[s.rule] ?? s.rule : null],
          [refunds.referenceOf, s.kind === 'refund_completed' ? s.rule : null],
          [refunds.why, s.kind === 'refund_failed' && s.rule ? refunds.because[s.rule] ?? s.rule : null],
          [words.shortcode, s.shortcode],
          [words.other, s.relatedReceiptId && <Link to="/receipts/$id" params={{ id: s.relatedReceiptId }}>{words.receipt}</Link>],
          [t.why, reason],
          [t.by, s.actor.name ?? t.actors[s.actor.kind]],
          [t.event, <Text key="event" span inherit c="dimmed" className="proof-id">{s.eventId} · {t.position(s.position)}</Text>],
        ]}
      />
      {s.message && <MessagePart of={s.message} />}
    </li>
  )
}

/** MessagePart shows what the provider said, or why that is not there any more. */
function MessagePart({ of: m }: { of: Message }) {
  const t = useText(proofText)
  if (m.missing) return <Text size="sm" c="dimmed">{t.missing[m.missing]}</Text>
  return (
    <figure className="proof-message">
      <figcaption>
        <Text size="sm">
          {t.message} · {t.came} <When at={m.receivedAt} exact />
          {m.from && ` · ${t.sender} ${m.from}`} · {m.provenBy ? t.proven[m.provenBy] : t.unproven}
        </Text>
      </figcaption>
      {m.content && <pre tabIndex={0}>{m.content}</pre>}
      {m.cut && <Text size="sm" c="dimmed">{t.cut}</Text>}
    </figure>
  )
}

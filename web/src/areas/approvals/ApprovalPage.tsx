import { Button, List, Stack, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { approvalsText } from '../../text/approvals'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { Confirm } from '../../ui/Confirm'
import { CustomerLink } from '../../ui/CustomerLink'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { tones } from './tones'

type Approval = Shape<'ApprovalResponse'>

/** ApprovalPage answers: what would happen, who wants it and why, and may I decide? */
export default function ApprovalPage() {
  const t = useText(approvalsText)
  const { id } = useParams({ from: '/approvals/$id' })
  const read = api.useQuery('get', '/approvals/{id}', { params: { path: { id } } })
  return (
    <Page title={read.data ? t.kinds[read.data.kind] : t.title} actions={read.data && <Actions of={read.data} />}>
      <Loaded read={read} height={320}>{(r) => <Asked of={r} />}</Loaded>
    </Page>
  )
}

function Asked({ of: r }: { of: Approval }) {
  const t = useText(approvalsText)
  const f = useFormat()
  const amount = f.money(r.amount, r.currency)
  return (
    <Stack gap="lg">
      <div role="status"><State tone={tones[r.state]}>{t.states[r.state]}</State></div>
      <Text>{r.what.noLimit ? t.noLimit : t.does[r.kind](amount)}</Text>
      {r.state === 'waiting' && r.own && <Text size="sm" c="dimmed">{t.own}</Text>}
      <Facts
        of={[
          [t.amount, <Money key="amount" amount={r.amount} currency={r.currency} />],
          [t.limitBefore, r.what.limitBefore === null ? null : f.money(r.what.limitBefore, r.currency)],
          [t.customer, r.subscriberId ? <CustomerLink key="customer" of={r.subscriber} account /> : null],
          [t.about, <About key="about" of={r} />],
          [t.reason, r.reason ?? t.noReason],
          [t.askedBy, <span key="by">{r.requestedBy?.name ?? t.former}, <When at={r.requestedAt} exact /></span>],
          [t.decidedBy, r.decidedAt && <span key="decided">{r.decidedBy?.name ?? t.former}, <When at={r.decidedAt} exact /></span>],
          [t.refusal, r.decisionReason],
          [t.failure, r.failure && (t.because[r.failure] ?? t.refusedAs(r.failure))],
          [t.expires, r.state === 'waiting' ? <When key="expires" at={r.expiresAt} exact /> : null],
        ]}
      />
      {r.what.lines.length > 0 && (
        <Section title={t.lines}>
          <List size="sm">
            {r.what.lines.map((l, i) => <List.Item key={i}>{t.line(f.number(l.quantity), f.money(l.unitPrice, r.currency))}</List.Item>)}
          </List>
        </Section>
      )}
    </Stack>
  )
}

/** About links to what is changed. */
function About({ of: { what, state } }: { of: Approval }) {
  const t = useText(approvalsText)
  return (
    <>
      {what.receiptId && <Link to="/receipts/$id" params={{ id: what.receiptId }}>{t.receipt}</Link>}
      {what.refundId && <Link to="/refunds">{t.kinds.refund}</Link>}
      {what.invoiceId && <Link to="/invoices/$id" params={{ id: what.invoiceId }}>{t.invoice}</Link>}
      {what.importId && state === 'carried_out' && <Link to="/imports/$id" params={{ id: what.importId }}>{t.import}</Link>}
      {what.compensationId && <Link to="/compensations/$id" params={{ id: what.compensationId }}>{t.compensation}</Link>}
      {what.toId && <>{', '}<Link to="/customers/$id" params={{ id: what.toId }}>{t.to}</Link></>}
    </>
  )
}

function Actions({ of: r }: { of: Approval }) {
  const t = useText(approvalsText)
  const f = useFormat()
  const may = useMay()
  const [doing, setDoing] = useState<'approve' | 'refuse' | 'withdraw' | null>(null)
  const then = () => setDoing(null)
  const approve = useWrite('post', '/approvals/{id}/approve', { told: () => t.approved, then })
  const refuse = useWrite('post', '/approvals/{id}/refuse', { told: () => t.refused, then })
  const withdraw = useWrite('post', '/approvals/{id}/withdraw', { told: () => t.withdrawn, then })
  if (r.state !== 'waiting') return null
  const path = { id: r.id }
  const title = t.approveTitle(t.kinds[r.kind], f.money(r.amount, r.currency))
  return (
    <>
      {!r.own && may('POST /approvals/{id}/approve') && <Button onClick={() => setDoing('approve')}>{t.approve}</Button>}
      {!r.own && may('POST /approvals/{id}/refuse') && <Button variant="default" onClick={() => setDoing('refuse')}>{t.refuse}</Button>}
      {r.own && may('POST /approvals/{id}/withdraw') && <Button variant="default" onClick={() => setDoing('withdraw')}>{t.withdraw}</Button>}
      {doing === 'approve' && (
        <Confirm title={title} verb={t.approve} pending={approve.isPending} error={approve.error} onClose={then} onConfirm={() => approve.mutate({ params: { path } })}>
          {r.what.noLimit ? t.noLimit : t.does[r.kind](f.money(r.amount, r.currency))} {t.approveWhat}
        </Confirm>
      )}
      {doing === 'refuse' && (
        <Confirm title={title} verb={t.refuse} reason pending={refuse.isPending} error={refuse.error} onClose={then} onConfirm={(reason) => refuse.mutate({ params: { path }, body: { reason } })}>
          {t.refuseWhat}
        </Confirm>
      )}
      {doing === 'withdraw' && (
        <Confirm title={title} verb={t.withdraw} pending={withdraw.isPending} error={withdraw.error} onClose={then} onConfirm={() => withdraw.mutate({ params: { path } })}>
          {t.withdrawWhat}
        </Confirm>
      )}
    </>
  )
}

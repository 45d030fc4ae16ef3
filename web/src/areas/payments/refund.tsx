import { Button, Group, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { refundsText } from '../../text/refunds'
import { Confirm } from '../../ui/Confirm'
import { FormDialog } from '../../ui/FormDialog'
import { State, type Tone } from '../../ui/State'

export type RefundRow = Row<'/refunds'>

const tones: Record<RefundRow['state'], Tone> = {
  requested: 'attention',
  approved: 'attention',
  submitted: 'quiet',
  in_doubt: 'bad',
  completed: 'good',
  failed: 'quiet',
}

/** RefundState is the state of a refund as word and colour. */
export function RefundState({ of }: { of: RefundRow }) {
  const t = useText(refundsText)
  return <State tone={tones[of.state] ?? 'quiet'}>{t.states[of.state] ?? of.state}</State>
}

/** toldOf says who did what with a refund, and why. */
export function toldOf(r: RefundRow, t: (typeof refundsText)['en']): string[] {
  const name = (of: { name: string | null } | null) => of && (of.name ?? t.former)
  const asked = name(r.requestedBy)
  const approved = name(r.approvedBy)
  const settled = name(r.settledBy)
  return [
    asked && t.askedBy(asked),
    r.reason,
    approved && t.approvedBy(approved),
    settled && t.settledBy(settled),
    r.reference && t.reference(r.reference),
    r.failure && (t.because[r.failure] ?? r.failure),
    r.message,
    r.settledReason,
  ].filter((words): words is string => Boolean(words))
}

/** RefundNext has the buttons for what can be done with a refund now. */
export function RefundNext({ of: r }: { of: RefundRow }) {
  const t = useText(refundsText)
  const may = useMay()
  const [doing, setDoing] = useState<'approve' | 'settle' | 'cancel' | null>(null)
  const close = () => setDoing(null)
  if (r.state === 'completed' || r.state === 'failed') return null
  if (r.state === 'submitted') return <Text size="sm" c="dimmed">{t.waiting}</Text>
  const byHand = r.by === 'manual'
  return (
    <>
      {r.state === 'in_doubt' && <Text size="sm">{t.doubtful}</Text>}
      <Group gap="xs" mt={4}>
        {r.state === 'requested' && r.secured && may('POST /refunds/{id}/approve') && (
          <Button size="xs" onClick={() => setDoing('approve')}>{t.approve}</Button>
        )}
        {(r.state === 'in_doubt' || (r.state === 'approved' && byHand)) && may('POST /refunds/{id}/settle') && (
          <Button size="xs" onClick={() => setDoing('settle')}>{t.settle}</Button>
        )}
        {r.state !== 'in_doubt' && may('POST /refunds/{id}/cancel') && (
          <Button size="xs" variant="default" onClick={() => setDoing('cancel')}>{t.cancel}</Button>
        )}
      </Group>
      {doing === 'approve' && <Approve of={r} onClose={close} />}
      {doing === 'settle' && <Settle of={r} onClose={close} />}
      {doing === 'cancel' && <Cancel of={r} onClose={close} />}
    </>
  )
}

function Approve({ of: r, onClose }: { of: RefundRow; onClose: () => void }) {
  const t = useText(refundsText)
  const f = useFormat()
  const byHand = r.by === 'manual'
  const write = useWrite('post', '/refunds/{id}/approve', { told: () => (byHand ? t.approved : t.approvedReversal), then: onClose })
  return (
    <Confirm
      title={t.approveTitle(f.money(r.amount, r.currency))}
      verb={t.approve}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: r.id } } })}
      onClose={onClose}
    >
      {byHand ? t.approveWhat : t.approveReversal}
    </Confirm>
  )
}

function Cancel({ of: r, onClose }: { of: RefundRow; onClose: () => void }) {
  const t = useText(refundsText)
  const f = useFormat()
  const write = useWrite('post', '/refunds/{id}/cancel', { told: () => t.cancelled, then: onClose })
  return (
    <Confirm
      title={t.cancelTitle(f.money(r.amount, r.currency))}
      verb={t.cancel}
      danger
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: r.id } }, body: { reason } })}
      onClose={onClose}
    >
      {t.cancelWhat}
    </Confirm>
  )
}

/** Settle asks what became of the payment to the payer, and for its number or the reason. */
function Settle({ of: r, onClose }: { of: RefundRow; onClose: () => void }) {
  const t = useText(refundsText)
  const f = useFormat()
  const [outcome, setOutcome] = useState<'completed' | 'failed'>('completed')
  const [reference, setReference] = useState('')
  const [reason, setReason] = useState('')
  const write = useWrite('post', '/refunds/{id}/settle', { told: () => t.settled, then: onClose })
  const paid = outcome === 'completed'
  return (
    <FormDialog
      title={t.settleTitle(f.money(r.amount, r.currency))}
      hint={t.settleWhat}
      verb={t.settle}
      ready={(paid ? reference : reason).trim() !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id: r.id } },
        body: paid ? { outcome, reference: reference.trim() } : { outcome, reason: reason.trim() },
      })}
      onClose={onClose}
    >
      <Radio.Group value={outcome} onChange={(value) => setOutcome(value === 'failed' ? 'failed' : 'completed')}>
        <Stack gap="xs">
          <Radio value="completed" label={t.paid} />
          <Radio value="failed" label={t.unpaid} />
        </Stack>
      </Radio.Group>
      {paid ? (
        <TextInput
          label={t.referenceOf}
          description={t.referenceHint}
          value={reference}
          onChange={(e) => setReference(e.currentTarget.value)}
          maxLength={100}
          required
        />
      ) : (
        <Textarea label={t.why} value={reason} onChange={(e) => setReason(e.currentTarget.value)} maxLength={500} autosize required />
      )}
      {!paid && <Text size="sm" c="dimmed">{t.cancelWhat}</Text>}
    </FormDialog>
  )
}

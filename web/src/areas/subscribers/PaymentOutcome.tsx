import { Anchor, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { serverNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { answersText } from '../../text/answers'
import { paymentsText } from '../../text/payments'
import { takingText } from '../../text/taking'
import { Loaded } from '../../ui/Loaded'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { isUnsure } from '../payments/unsure'
import { stillOff } from './outcome'
import { addressOf, type Customer } from './words'

// After so long somebody at the desk may rather pay in cash.
const patience = 30_000

/** PaymentOutcome tells what becomes of a payment while the customer types the PIN, and what to do when none comes. */
export function PaymentOutcome({ id, of: c, phone, onAgain, onClose }: {
  id: string
  of: Customer
  phone: string
  onAgain: (how: 'prompt' | 'cash') => void
  onClose: () => void
}) {
  const t = useText(takingText)
  const words = useText(paymentsText)
  const f = useFormat()
  const may = useMay()
  const queries = useQueryClient()
  const payment = api.useQuery('get', '/payments/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => (!q.state.data || q.state.data.status === 'PENDING' ? 1000 : false),
  })
  const status = payment.data?.status
  const cash = may('POST /payments/cash')
  // Each look draws the dialog anew, since what it says depends on how long it has lasted.
  void payment.dataUpdatedAt
  useEffect(() => {
    // What the payment has changed is shown at once, though the stream may be broken.
    if (status && status !== 'PENDING') void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] !== '/payments/{id}' })
  }, [status, queries])
  const ask = useWrite('post', '/payments/query', {
    told: (answer) => ('amount' in answer ? (answer.providerAsked ? words.askedNow : words.askedLately)(words.statuses[answer.status]) : words.askedAccepted),
  })
  return (
    <Stack gap="sm" mih={130} role="status">
      <Loaded read={payment} height={120}>
        {(p) => {
          if (p.status === 'PENDING') {
            const now = serverNow()
            const unsure = isUnsure(p, now)
            const late = now - Date.parse(p.initiatedAt) > patience
            return (
              <>
                <Group gap="sm"><Loader size="sm" /><Text fw={600}>{unsure ? words.unsure : t.waiting(f.money(p.amount, p.currency), phone)}</Text></Group>
                <Text size="sm" c="dimmed">
                  {[!unsure && p.attempts > 0 && words.noAnswer, late && cash && t.cashMeanwhile, t.waitingHint].filter(Boolean).join(' ')}
                </Text>
                {payment.error && <Text size="sm" c="var(--tone-attention)">{t.unreadable}</Text>}
                {ask.error && <ProblemNote of={ask.error} />}
                <Group justify="flex-end" gap="xs">
                  {late && cash && <Button variant="default" onClick={() => onAgain('cash')}>{t.cashInstead}</Button>}
                  {may('POST /payments/query') && p.checkoutRequestId && (
                    <Button variant="default" loading={ask.isPending} onClick={() => ask.mutate({ body: { paymentId: id } })}>{t.ask}</Button>
                  )}
                </Group>
              </>
            )
          }
          if (p.status === 'SUCCESS') {
            return (
              <>
                <Text component="div" fw={600}><State tone="good">{t.paid(f.money(p.amount, p.currency))}</State></Text>
                <Text size="sm">
                  {p.receiptNumber && (p.receiptId
                    ? <Anchor component={Link} to={addressOf.receipt(p.receiptId)} inherit>{t.receipt(p.receiptNumber)}</Anchor>
                    : t.receipt(p.receiptNumber))}{' '}
                  <PaidUntil id={c.id} />
                </Text>
                <Group justify="flex-end" gap="xs">
                  <Button variant="default" onClick={() => onAgain('prompt')}>{t.another}</Button>
                  <Button onClick={onClose} autoFocus>{t.done}</Button>
                </Group>
              </>
            )
          }
          return (
            <>
              <Text component="div" fw={600} className="sentence">
                <State tone="bad">{null}</State> {p.reason ? t.failed[p.reason] : t.failedElse}
              </Text>
              {p.message && <Text size="sm" c="dimmed">{p.message}</Text>}
              <Group justify="flex-end" gap="xs">
                <Button component={Link} to={addressOf.payment(p.id)} variant="subtle">{t.open}</Button>
                {cash && <Button variant="default" onClick={() => onAgain('cash')}>{t.cashInstead}</Button>}
                <Button onClick={() => onAgain('prompt')}>{t.again}</Button>
              </Group>
            </>
          )
        }}
      </Loaded>
    </Stack>
  )
}

/** PaidUntil says what the payment has brought: until when is paid now, or why the customer stays off all the same. */
function PaidUntil({ id }: { id: string }) {
  const t = useText(takingText)
  const answers = useText(answersText)
  const f = useFormat()
  const access = api.useQuery('get', '/subscribers/{id}/access', { params: { path: { id } } })
  if (!access.data) return null
  const { services, reasons } = access.data
  const open = services.filter((s) => s.entitled === 'full' || s.entitled === 'throttled')
  if (open.length === 0) {
    return services.length === 0 ? null : t[stillOff(reasons)]
  }
  const until = open.map((s) => s.paidUntil).filter((at) => at !== null).sort()[0]
  const outage = open.find((s) => s.outage)?.outage
  return [until && t.paidUntil(f.short(until)), outage && t.outage(outage.deviceName ?? answers.aRouter)].filter(Boolean).join(' ')
}

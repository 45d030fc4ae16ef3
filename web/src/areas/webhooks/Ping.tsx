import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { readUntilRead } from '../../api/again'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { webhooksText } from '../../text/webhooks'
import { PageLink } from '../../ui/PageLink'
import { State } from '../../ui/State'
import type { Delivery, Endpoint } from './words'

// A trial ends when the receiver has answered, within ten seconds: somebody waits for it.
const lookAgain = 500

/** usePing sends a trial, and follows it until it has ended. */
export function usePing(of: Endpoint | undefined) {
  const [sent, setSent] = useState<string | null>(null)
  const write = useWrite('post', '/webhook-endpoints/{id}/ping', { then: (d) => setSent(d.id) })
  const read = api.useQuery('get', '/webhook-deliveries/{id}', { params: { path: { id: sent ?? '' } } }, {
    enabled: sent !== null,
    refetchInterval: (q) => readUntilRead(q) || (q.state.data?.state === 'pending' && lookAgain),
  })
  const ping = () => {
    if (of) write.mutate({ params: { path: { id: of.id } } })
  }
  return { ping, isPending: write.isPending, error: write.error, sent: sent !== null, delivery: read.data }
}

/** PingButton asks for a trial. */
export function PingButton({ of }: { of: ReturnType<typeof usePing> }) {
  const t = useText(webhooksText)
  return <Button variant="default" loading={of.isPending} onClick={of.ping}>{t.ping}</Button>
}

/** PingOutcome tells what became of the last trial. */
export function PingOutcome({ of: { sent, delivery, error } }: { of: ReturnType<typeof usePing> }) {
  const t = useText(webhooksText)
  if (error) return <Text size="sm" role="alert" c="var(--tone-bad)">{error.message}</Text>
  if (!sent) return null
  return <div role="status">{!delivery || delivery.state === 'pending' ? <State tone="quiet">{t.pinging}</State> : <Ended of={delivery} />}</div>
}

function Ended({ of: d }: { of: Delivery }) {
  const t = useText(webhooksText)
  const last = d.attempts.at(-1)
  const answer = last?.status != null ? t.answered(last.status, last.durationMs) : ''
  const why = d.error ?? last?.error ?? ''
  return (
    <>
      <State tone={d.state === 'delivered' ? 'good' : 'bad'}>
        {d.state === 'delivered' ? t.pinged(answer) : t.pingFailed([t.errors[why] ?? why, answer].filter(Boolean).join(' '))}
      </State>
      {' '}<PageLink to={`/webhooks/deliveries/${d.id}`}>{t.delivery}</PageLink>
    </>
  )
}

import type { Row } from '../../api/rows'
import { useText } from '../../text/catalogue'
import { webhooksText } from '../../text/webhooks'
import { State, type Tone } from '../../ui/State'
import { To } from '../../ui/To'
import { aboutOf } from './message'

/** Endpoint is an address of the organization's own systems. */
export type Endpoint = Row<'/webhook-endpoints'>

/** Delivery is one message on its way to one address. */
export type Delivery = Row<'/webhook-deliveries'>

/** isFailing tells an address that the program itself has disabled from one that somebody has paused. */
export const isFailing = (e: Endpoint) => e.state === 'disabled' && e.disabledReason === 'failing'

/** EndpointState says whether an address is told of anything. */
export function EndpointState({ of: e }: { of: Endpoint }) {
  const t = useText(webhooksText)
  if (isFailing(e)) return <State tone="bad" title={t.failingTitle}>{t.states.failing}</State>
  return e.state === 'enabled' ? <State tone="good">{t.states.enabled}</State> : <State tone="quiet" title={t.pausedHint}>{t.states.disabled}</State>
}

const tones: Record<Delivery['state'], Tone> = { pending: 'quiet', delivered: 'good', failed: 'bad' }

/** DeliveryState says how far a delivery has got, and on hover why it has failed. */
export function DeliveryState({ of: d }: { of: Delivery }) {
  const t = useText(webhooksText)
  const why = d.error ?? d.attempts.at(-1)?.error
  return <State tone={tones[d.state]} title={why ? (t.errors[why] ?? why) : undefined}>{t.deliveryStates[d.state]}</State>
}

/** AboutLink leads to what a message is about. */
export function AboutLink({ of: d }: { of: Delivery }) {
  const t = useText(webhooksText)
  const about = aboutOf(d.type, d.message)
  return about && <To way={about.way}>{about.name ?? t.abouts[about.kind]}</To>
}

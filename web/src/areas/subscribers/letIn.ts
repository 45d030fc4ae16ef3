import type { Row } from '../../api/rows'

type Entry = Pick<Row<'/subscribers/{id}/timeline'>, 'eventId' | 'at' | 'code' | 'cause'>
interface Reason {
  since: string | null
  cause: { id: string } | null
  subscriptionId: string | null
}

/** LetIn is what gave access a moment ago; null where that is not known, or is none of these. */
export type LetIn = 'paid' | 'resumed' | 'unblocked' | null

// Credit that lay on the account, and money that was moved here, extend a service without anybody paying.
const money: ReadonlySet<string> = new Set(['payment_credited', 'payment_matched'])
const atOnce = 2 * 60_000

/** letInBy finds what gave access, among what happened to the customer with the newest first. */
export function letInBy({ since, cause, subscriptionId }: Reason, happened: Entry[]): LetIn {
  if (!since) return null
  const began = Date.parse(since)
  const at = (e: Entry) => Date.parse(e.at)
  for (const e of happened) {
    if (at(e) < began) break
    if (e.code === 'subscriber_unblocked') return 'unblocked'
    if (e.code === 'subscription_resumed' && (e.eventId === cause?.id || e.cause.id === subscriptionId)) return 'resumed'
    if (e.code === 'subscription_extended' && e.eventId === cause?.id) {
      return happened.some((m) => money.has(m.code) && at(m) <= at(e) && at(m) > at(e) - atOnce) ? 'paid' : null
    }
  }
  return null
}

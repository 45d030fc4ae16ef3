import type { Row } from '../../api/rows'
import type { Tone } from '../../ui/State'

/** Customer is a customer as lists show it. */
export type Customer = Row<'/subscribers'>

/** accessTones is how good each access is. */
export const accessTones: Record<string, Tone> = { full: 'good', throttled: 'attention', walled_garden: 'attention', none: 'bad' }

/** observedTones is how good it is what the network shows. */
export const observedTones: Record<string, Tone> = { online: 'good', walled_garden: 'attention', offline: 'quiet', unknown: 'quiet' }

/** stateTones is how good the state of a subscription is. */
export const stateTones: Record<string, Tone> = { active: 'good', pending: 'attention', paused: 'quiet', ended: 'quiet' }

/** Presence is what a list says of a customer's devices. */
type Presence = 'online' | 'away' | 'offline'

/** presenceTones is how good each is. */
export const presenceTones: Record<Presence, Tone> = { online: 'good', away: 'bad', offline: 'quiet' }

/**
 * presenceOf judges by sessions, of which those at a router that does not answer go on until nothing was heard of them
 * for a quarter of an hour: who is off behind such a router is not online.
 */
export function presenceOf(c: Pick<Customer, 'online' | 'outage'>): Presence {
  if (c.outage) return 'away'
  return c.online ? 'online' : 'offline'
}

/** nameOf is the customer's name, or that the person was forgotten. */
export function nameOf(c: Pick<Customer, 'firstName' | 'lastName'>, t: { forgotten: string }): string {
  return [c.firstName, c.lastName].filter(Boolean).join(' ') || t.forgotten
}

/** tagsOf reads tags that were typed with commas between. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()).filter(Boolean))]
}

/** addressOf gives the pages of other areas. */
export const addressOf = {
  invoice: (id: string): string => `/invoices/${id}`,
  receipt: (id: string): string => `/receipts/${id}`,
  payment: (id: string): string => `/payments/${id}`,
  session: (id: string): string => `/sessions/${id}`,
  router: (id: string): string => `/routers/${id}`,
  plan: (id: string): string => `/plans/${id}`,
  support_request: (id: string): string => `/support/${id}`,
}

const pages: Partial<Record<string, (id: string) => string>> = addressOf

/** pageOf is the page that shows what led to something; null where it has none of its own. */
export function pageOf(cause: { type: string; id: string }): string | null {
  return pages[cause.type]?.(cause.id) ?? null
}

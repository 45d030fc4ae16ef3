import type { Row } from '../../api/rows'

type Service = Pick<Row<'/subscriptions'>, 'id' | 'state' | 'billing' | 'price' | 'paidUntil' | 'openInvoiceId'>
type Invoice = Pick<Row<'/invoices'>, 'subscriptionId' | 'state' | 'total' | 'due'>

/** Starting is what a service costs that no invoice asks for: its price, and what is left of it beside the credit. */
interface Starting {
  price: number
  left: number
}

/** isOpen keeps the invoices that have something due. */
export const isOpen = (i: Pick<Invoice, 'due' | 'state'>) => i.due > 0 && i.state !== 'draft'

/**
 * startingOf gives what starts a service that is paid ahead, has no paid time and no open invoice, as after its invoice
 * was voided: credit that covers the price. Null for all others. Invoices come with the newest first.
 */
export function startingOf(s: Service, invoices: Invoice[], credit: number, now: number): Starting | null {
  const runs = s.state === 'pending' || s.state === 'active'
  if (s.billing.mode !== 'prepaid' || !runs || (s.paidUntil && Date.parse(s.paidUntil) > now)) return null
  const own = invoices.filter((i) => i.subscriptionId === s.id)
  if (s.openInvoiceId !== null || own.some(isOpen)) return null
  // A tax on top of the price stands in the invoice alone.
  const price = Math.max(s.price, own[0]?.total ?? 0)
  return { price, left: cents(Math.max(price - credit, 0)) }
}

/** dueNow is what a customer is asked for: open invoices and what starts services without one, less the credit. */
export function dueNow(c: { balance: number; credit: number }, services: Service[], invoices: Invoice[], now: number): number {
  const open = invoices.filter(isOpen).reduce((sum, i) => sum + i.due, 0)
  const starts = services.reduce((sum, s) => sum + (startingOf(s, invoices, 0, now)?.price ?? 0), 0)
  return cents(Math.max(Math.max(c.balance, open - c.credit) + starts, 0))
}

const cents = (amount: number) => Math.round(amount * 100) / 100

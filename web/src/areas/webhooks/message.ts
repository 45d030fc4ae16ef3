import type { Way } from '../../ui/To'

/** Kind is a word for the page that a message is about. */
type Kind = 'payment' | 'receipt' | 'invoice' | 'customer' | 'service' | 'router'

/** About is the page that shows what a message is about; name is its own, where the message has one. */
interface About {
  kind: Kind
  way: Way
  name?: string
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** aboutOf finds the page by the data of a message; null = there is none, as for a trial. */
export function aboutOf(type: string, message: unknown): About | null {
  const data = ((message as { data?: unknown } | null)?.data ?? {}) as Record<string, unknown>
  const [payment, invoice, subscriber] = [text(data.paymentId), text(data.invoiceId), text(data.subscriberId)]
  const [service, device] = [text(data.serviceId), text(data.deviceId)]
  if (type.startsWith('payment.') && payment) {
    // Money that no prompt asked for is named by its receipt.
    return data.gateway === 'mobile_money_stk'
      ? { kind: 'payment', way: { to: `/payments/${payment}` } }
      : { kind: 'receipt', way: { to: `/receipts/${payment}` } }
  }
  if (invoice) return { kind: 'invoice', way: { to: `/invoices/${invoice}` }, name: text(data.number) }
  if (subscriber) return { kind: 'customer', way: { to: `/customers/${subscriber}` } }
  if (service) return { kind: 'service', way: { to: `/services/${service}` } }
  return device ? { kind: 'router', way: { to: `/routers/${device}`, search: { view: 'differences' } } } : null
}

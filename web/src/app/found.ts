import type { LucideIcon } from 'lucide-react'
import type { Shape } from '../api/types'
import { Building2, Receipt, Router, ScrollText, Ticket, User, Wifi } from '../ui/icons'

type Result = Shape<'ResultResponse'>

/** Found is one thing that the search has found, with the page that shows it. */
export interface Found {
  key: string
  to: string
  /** search is what the page is opened with, beside its address. */
  search?: Record<string, string>
  title: string
  subtitle: string
  icon: LucideIcon
  /** type says which kind of thing it is; null for a page of the navigation. */
  type: Result['type'] | null
}

// Who looks for something of a customer, such as the MAC of his device, wants the customer; a guest has only a session.
const kinds: Record<Result['type'], { icon: LucideIcon; to: (r: Result) => string }> = {
  organization: { icon: Building2, to: (r) => `/orgs/${r.id}` },
  subscriber: { icon: User, to: (r) => `/customers/${r.id}` },
  subscription: { icon: Wifi, to: (r) => `/customers/${r.subscriberId ?? ''}` },
  session: { icon: Wifi, to: (r) => (r.subscriberId ? `/customers/${r.subscriberId}` : `/sessions/${r.id}`) },
  voucher: { icon: Ticket, to: () => '/vouchers' },
  invoice: { icon: ScrollText, to: (r) => `/invoices/${r.id}` },
  receipt: { icon: Receipt, to: (r) => `/receipts/${r.id}` },
  device: { icon: Router, to: (r) => `/routers/${r.id}` },
  cpe: { icon: Router, to: (r) => `/devices/${r.id}` },
}

/** foundOf shows a result of the API, and knows the page that it opens. The root host has no page of one receipt. */
export function foundOf(r: Result, platform: boolean): Found {
  const kind = kinds[r.type]
  const place = { title: r.title, subtitle: r.subtitle, icon: kind.icon, type: r.type, key: `${r.type} ${r.id}` }
  if (platform && r.type === 'receipt') return { ...place, to: '/suspense', search: { receipt: r.id } }
  return { ...place, to: kind.to(r) }
}

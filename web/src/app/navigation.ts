import type { LucideIcon } from 'lucide-react'
import type { Operation } from '../api/access'
import type { appText } from '../text/app'
import * as icons from '../ui/icons'

/** Place is a page that the navigation leads to. */
interface Place {
  to: string
  name: keyof (typeof appText)['en']
  icon: LucideIcon
  /** needs is the call without which the page has nothing to show; who may not make it does not see the place. */
  needs: Operation
}

/** Group is a part of the navigation. */
interface PlaceGroup {
  name: keyof (typeof appText)['en'] | null
  places: Place[]
}

/** organizationPlaces are the pages of an organization's host. */
export const organizationPlaces: PlaceGroup[] = [
  {
    name: null,
    places: [
      { to: '/', name: 'home', icon: icons.House, needs: 'GET /subscribers' },
      { to: '/customers', name: 'customers', icon: icons.Users, needs: 'GET /subscribers' },
      { to: '/support', name: 'support', icon: icons.MessageSquare, needs: 'GET /support-requests' },
    ],
  },
  {
    name: 'money',
    places: [
      { to: '/payments', name: 'payments', icon: icons.Smartphone, needs: 'GET /receipts' },
      { to: '/receipts', name: 'receipts', icon: icons.Receipt, needs: 'GET /receipts' },
      { to: '/suspense', name: 'suspense', icon: icons.Inbox, needs: 'GET /receipts' },
      { to: '/refunds', name: 'refunds', icon: icons.Undo2, needs: 'GET /refunds' },
      { to: '/approvals', name: 'approvals', icon: icons.ListChecks, needs: 'GET /approvals' },
      { to: '/reconciliations', name: 'reconciliations', icon: icons.Scale, needs: 'GET /reconciliations' },
      { to: '/invoices', name: 'invoices', icon: icons.ScrollText, needs: 'GET /invoices' },
      { to: '/bills', name: 'billManager', icon: icons.ScrollText, needs: 'GET /bill-manager/invoices' },
      { to: '/tax-documents', name: 'taxDocuments', icon: icons.Stamp, needs: 'GET /tax-documents' },
      { to: '/batches', name: 'batches', icon: icons.Undo2, needs: 'GET /batches' },
      { to: '/billing-runs', name: 'billingRuns', icon: icons.CalendarClock, needs: 'GET /billing/runs' },
      { to: '/collections', name: 'collections', icon: icons.Landmark, needs: 'GET /reports/collections' },
      { to: '/corrections', name: 'corrections', icon: icons.Undo2, needs: 'GET /reports/corrections' },
      { to: '/ageing', name: 'ageing', icon: icons.CalendarClock, needs: 'GET /reports/ageing' },
      { to: '/revenue', name: 'revenue', icon: icons.ChartColumn, needs: 'GET /reports/revenue' },
      { to: '/churn', name: 'churn', icon: icons.ArrowLeftRight, needs: 'GET /reports/churn' },
      { to: '/plans', name: 'plans', icon: icons.Tags, needs: 'GET /plans' },
    ],
  },
  {
    name: 'access',
    places: [
      { to: '/dunning', name: 'dunning', icon: icons.Clock, needs: 'GET /dunning' },
      { to: '/policies', name: 'policies', icon: icons.Scale, needs: 'GET /settings/dunning' },
      { to: '/sessions', name: 'sessions', icon: icons.Activity, needs: 'GET /sessions' },
      { to: '/differences', name: 'differences', icon: icons.TriangleAlert, needs: 'GET /access-differences' },
      { to: '/vouchers', name: 'vouchers', icon: icons.Ticket, needs: 'GET /vouchers' },
    ],
  },
  {
    name: 'network',
    places: [
      { to: '/routers', name: 'routers', icon: icons.Router, needs: 'GET /nas/fleet' },
      { to: '/devices', name: 'cpes', icon: icons.Wifi, needs: 'GET /cpe/devices' },
      { to: '/pending-devices', name: 'pendingCpes', icon: icons.Inbox, needs: 'GET /cpe/pending' },
      { to: '/firmware', name: 'cpeFirmware', icon: icons.Download, needs: 'GET /cpe/firmware' },
      { to: '/device-scripts', name: 'cpeScripts', icon: icons.ScrollText, needs: 'GET /cpe/provisions' },
      { to: '/device-faults', name: 'cpeFaults', icon: icons.TriangleAlert, needs: 'GET /cpe/faults' },
      { to: '/outages', name: 'outages', icon: icons.WifiOff, needs: 'GET /outages' },
      { to: '/compensations', name: 'compensations', icon: icons.Gift, needs: 'GET /compensations' },
    ],
  },
  {
    name: 'administration',
    places: [
      { to: '/staff', name: 'staff', icon: icons.User, needs: 'GET /users' },
      { to: '/gateway', name: 'gateway', icon: icons.Wallet, needs: 'GET /settings/payment-gateway' },
      { to: '/tax-gateway', name: 'taxGateway', icon: icons.Stamp, needs: 'GET /settings/tax-gateway' },
      { to: '/organization', name: 'organization', icon: icons.Building2, needs: 'GET /settings/organization' },
      { to: '/messages', name: 'messages', icon: icons.Bell, needs: 'GET /messages' },
      { to: '/message-texts', name: 'messageTexts', icon: icons.Pencil, needs: 'GET /settings/messages' },
      { to: '/api-keys', name: 'apiKeys', icon: icons.KeyRound, needs: 'GET /api-keys' },
      { to: '/webhooks', name: 'webhooks', icon: icons.Webhook, needs: 'GET /webhook-endpoints' },
      { to: '/audit', name: 'audit', icon: icons.ListChecks, needs: 'GET /audit-log' },
      { to: '/imports', name: 'imports', icon: icons.ArrowLeftRight, needs: 'GET /imports' },
      { to: '/system', name: 'system', icon: icons.Server, needs: 'GET /system/projections' },
    ],
  },
]

/** platformPlaces are the pages of the root host. */
export const platformPlaces: PlaceGroup[] = [
  {
    name: null,
    places: [
      { to: '/', name: 'home', icon: icons.House, needs: 'GET /orgs' },
      { to: '/orgs', name: 'organizations', icon: icons.Building2, needs: 'GET /orgs' },
      { to: '/pending-devices', name: 'pendingCpes', icon: icons.Wifi, needs: 'GET /cpe/pending' },
      { to: '/suspense', name: 'suspense', icon: icons.Inbox, needs: 'GET /receipts' },
      { to: '/reconciliations', name: 'reconciliations', icon: icons.Scale, needs: 'GET /reconciliations' },
      { to: '/failed-callbacks', name: 'failedCallbacks', icon: icons.TriangleAlert, needs: 'GET /failed-callbacks' },
      { to: '/settlement', name: 'settlement', icon: icons.Landmark, needs: 'GET /reports/settlement' },
      { to: '/bill-manager', name: 'billManager', icon: icons.ScrollText, needs: 'GET /bill-manager/opt-in' },
      { to: '/audit', name: 'audit', icon: icons.ListChecks, needs: 'GET /audit-log' },
      { to: '/system', name: 'system', icon: icons.Server, needs: 'GET /system/projections' },
    ],
  },
]

// Pages whose addresses do not begin with that of their list.
const lists: Record<string, string> = { history: '/audit', services: '/routers', subscriptions: '/customers', export: '/imports', campaigns: '/firmware' }

/** listOf gives the place of the navigation to which a page belongs; path is without /app. */
export function listOf(path: string): string {
  const first = path.split('/')[1] ?? ''
  return lists[first] ?? `/${first}`
}

/** nameOfPlace gives the key of a place's name; undefined when the navigation has no such place. */
export function nameOfPlace(to: string): Place['name'] | undefined {
  return [...organizationPlaces, ...platformPlaces].flatMap((g) => g.places).find((p) => p.to === to)?.name
}

// Pages of every host that are no places.
const everywhere = ['/account']

/** isElsewhere says of a page that this kind of host does not have it: the root host has no customers, say. */
export function isElsewhere(path: string, platform: boolean): boolean {
  const list = listOf(path)
  if (!platform) return ['/orgs', '/failed-callbacks', '/bill-manager'].includes(list)
  return !everywhere.includes(list) && !platformPlaces.some((g) => g.places.some((p) => p.to === list))
}

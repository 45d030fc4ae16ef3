// What the server tells about changes, and which reads of a page they make old. stream.ts brings them here.

/** Change is told when something changed that this person may read. */
export interface Change {
  topic: string
  /** id of the resource; null when many changed at once. */
  id: string | null
  type: string
  at: string
  /** subscriberId is the customer to whom the resource belongs. */
  subscriberId?: string | null
}

// The beginnings of the paths that show what a topic is about. A topic that is not here is its own path.
const shownBy: Record<string, string[]> = {
  subscribers: ['/subscribers', '/reports'],
  subscriptions: ['/subscriptions', '/subscribers', '/reports', '/dunning'],
  invoices: ['/invoices', '/subscribers', '/reports'],
  payments: ['/payments', '/reports', '/subscribers/{id}/forget'],
  receipts: ['/receipts', '/reports', '/subscribers'],
  refunds: ['/refunds', '/reports', '/subscribers/{id}/forget'],
  approvals: ['/approvals', '/reports', '/subscribers/{id}/forget'],
  'billing-runs': ['/billing', '/reports'],
  outages: ['/outages', '/settings/outages', '/reports'],
  compensations: ['/compensations', '/reports'],
  messages: ['/messages', '/outages'],
  'support-requests': ['/support-requests', '/reports'],
  batches: ['/batches', '/imports', '/compensations'],
  dunning: ['/dunning', '/subscribers', '/subscriptions', '/reports'],
  'access-differences': ['/access-differences', '/reports', '/subscribers'],
  sessions: ['/sessions', '/subscribers', '/reports', '/nas/fleet'],
  devices: ['/nas', '/reports'],
  cpe: ['/cpe', '/me/devices'],
  services: ['/nas', '/reports'],
  breakers: ['/platform/breakers', '/reports'],
  processes: ['/system', '/reports'],
  'tax-documents': ['/tax-documents', '/settings/tax-gateway'],
  'payment-gateway': ['/settings/payment-gateway', '/paybill'],
  timeline: ['/subscribers/{id}/timeline'],
  vouchers: ['/vouchers', '/voucher-batches'],
  'webhook-endpoints': ['/webhook-endpoints', '/webhook-deliveries', '/reports'],
}

// Reports about days that are mostly over. Something happens at every moment, and each of them reads a year at most, so
// they are read again when they are opened, and not at each change.
const ofPast = ['/reports/revenue', '/reports/churn', '/reports/settlement']

const pathsOf = (topic: string) => shownBy[topic] ?? [`/${topic}`]
const under = (path: string, start: string) => path === start || path.startsWith(`${start}/`)
const tells = (topic: string, path: string) =>
  pathsOf(topic).some((start) => under(path, start)) && !ofPast.some((report) => under(path, report))

/** topicsOf gives the test whether a topic is about a path. */
export function topicsOf(path: string): (topic: string) => boolean {
  return (topic) => tells(topic, path)
}

/** makesOld reports whether one of the changes is about a read: its path, and the ids that it was asked for. */
export function makesOld(changes: Change[], path: string, ids: string[]): boolean {
  return changes.some((c) => {
    if (c.topic === 'reset') return true
    if (!tells(c.topic, path)) return false
    // A read about one customer or router is left alone by what happened to others.
    const about = [c.id, c.subscriberId].filter((id) => typeof id === 'string')
    return ids.length === 0 || about.length === 0 || about.some((id) => ids.includes(id))
  })
}

/** idsOf finds the ids that a read was asked for, in the parameters of its query key. */
export function idsOf(init: unknown): string[] {
  const params = (init as { params?: { path?: object; query?: object } } | undefined)?.params
  return Object.entries({ ...params?.query, ...params?.path })
    .filter(([name, value]) => /(^id|Id)$/.test(name) && typeof value === 'string')
    .map(([, value]) => value as string)
}

const listeners = new Set<(c: Change) => void>()

/** onChange calls back for each change; it returns the function that ends that. */
export function onChange(heard: (c: Change) => void): () => void {
  listeners.add(heard)
  return () => {
    listeners.delete(heard)
  }
}

/** tell hands a change to all who listen. */
export function tell(c: Change) {
  for (const heard of listeners) heard(c)
}

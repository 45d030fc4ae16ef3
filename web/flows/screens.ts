import type { Page } from 'playwright-core'
import { call, firstOf, type Role, type Row } from './kit'

/** Screen is a page of the program, in a state that is worth a look. */
export interface Screen {
  name: string
  role: Role
  /** path below /app; a function when the page is of something that the demo has made. */
  path: string | ((page: Page) => Promise<string>)
  /** phone is true where the picture on a small phone is kept, too. */
  phone?: boolean
}

const of = (list: string, address: (id: string) => string) => async (page: Page) => address((await firstOf(page, list)).id)

/** compared has a statement of the provider compared, with a payment that is missing here, and gives its page. */
async function compared(page: Page) {
  const table = 'Receipt No.,Completion Time,Details,Paid In,Withdrawn,Other Party Info,A/C No.\n'
    + 'SJ00SCREEN,2026-01-05 10:00:00,Pay Bill,"1500.00",,254722000599 - AMINA OTIENO,10000008\n'
  const id = await page.evaluate(async (body) => {
    const answer = await fetch('/reconciliations', { method: 'POST', body, headers: { 'Content-Type': 'text/csv' } })
    return ((await answer.json()) as { id: string }).id
  }, table)
  return `/reconciliations/${id}`
}

/** proposed has a router read that knows customers by itself, and gives the page of what can be made of them. */
async function proposed(page: Page) {
  const routers = (await call<{ data: Row[] }>(page, 'GET', '/nas/devices?limit=100')).body.data
  const deviceId = routers.find((r) => r.name === 'tower-north')?.id
  const made = await call<Row>(page, 'POST', '/import-proposals', { deviceId })
  return `/imports/routers/${made.body.id}`
}

/** issued makes an API key, when there is none yet, and gives its page. */
async function issued(page: Page) {
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/api-keys')
  const key = body.data[0] ?? (await call<Row>(page, 'POST', '/api-keys', {
    name: 'Accounting', role: 'admin', scopes: ['invoices:read', 'receipts:read', 'subscribers:write'], allowedAddresses: ['196.201.214.0/24'],
  })).body
  return `/api-keys/${key.id}`
}

/** told registers an address of the organization's own systems where nobody listens, when there is none yet. */
async function told(page: Page): Promise<string> {
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/webhook-endpoints')
  if (body.data[0]) return body.data[0].id
  const made = await call<Row>(page, 'POST', '/webhook-endpoints', {
    url: 'http://127.0.0.1:9/hooks/isp', types: ['payment.succeeded', 'invoice.created'], description: 'Accounting',
  })
  return made.body.id
}

/** tried sends a trial to it, and gives the page of the trial. */
async function tried(page: Page) {
  const made = await call<Row>(page, 'POST', `/webhook-endpoints/${await told(page)}/ping`)
  return `/webhooks/deliveries/${made.body.id}`
}

/** forgotten makes a customer and forgets the person, when the demo has none who was forgotten, and gives the page. */
async function forgotten(page: Page): Promise<string> {
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/subscribers?status=forgotten')
  if (body.data[0]) return `/customers/${body.data[0].id}`
  const made = await call<Row>(page, 'POST', '/subscribers', { firstName: 'Pita', lastName: 'Njia', phone: '+254700000477' })
  await call(page, 'POST', `/subscribers/${made.body.id}/forget`, { reason: 'asked for it in a letter' })
  return `/customers/${made.body.id}`
}

/** written has a script of the organization's own at the CPE server, when there is none yet, and gives its page. */
async function written(page: Page): Promise<string> {
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/cpe/provisions')
  const name = body.data[0]?.name ?? (await call<Row>(page, 'PUT', '/cpe/provisions/greeting', { script: 'log("here");' })).body.name
  return `/device-scripts/${String(name)}`
}

const all: Screen[] = [
  { name: 'home', role: 'admin', path: '/', phone: true },
  { name: 'home-support', role: 'support', path: '/' },
  { name: 'changes', role: 'admin', path: '/changes' },
  { name: 'customers', role: 'admin', path: '/customers', phone: true },
  { name: 'customer', role: 'admin', path: of('/subscribers?q=acacia', (id) => `/customers/${id}`), phone: true },
  { name: 'customer-unpaid', role: 'support', path: of('/subscribers?q=hibiscus', (id) => `/customers/${id}`) },
  { name: 'customer-forgotten', role: 'admin', path: forgotten },
  { name: 'customer-new', role: 'admin', path: '/customers/new' },
  { name: 'payments', role: 'admin', path: '/payments' },
  { name: 'payment', role: 'admin', path: of('/payments', (id) => `/payments/${id}`) },
  { name: 'receipts', role: 'admin', path: '/receipts' },
  { name: 'receipt', role: 'admin', path: of('/receipts', (id) => `/receipts/${id}`) },
  { name: 'receipt-proof', role: 'admin', path: of('/receipts', (id) => `/receipts/${id}/proof`) },
  { name: 'approvals', role: 'admin', path: '/approvals', phone: true },
  { name: 'corrections', role: 'admin', path: '/corrections' },
  { name: 'message-costs', role: 'admin', path: '/message-costs' },
  { name: 'refunds', role: 'admin', path: '/refunds' },
  { name: 'reconciliations', role: 'admin', path: '/reconciliations' },
  { name: 'suspense', role: 'admin', path: '/suspense', phone: true },
  { name: 'invoices', role: 'admin', path: '/invoices' },
  { name: 'invoice', role: 'admin', path: of('/invoices', (id) => `/invoices/${id}`) },
  { name: 'correct-invoice', role: 'admin', path: of('/invoices', (id) => `/invoices/${id}/reissue`) },
  { name: 'bills', role: 'admin', path: '/bills' },
  { name: 'tax-documents', role: 'admin', path: '/tax-documents' },
  { name: 'collections', role: 'admin', path: '/collections' },
  { name: 'ageing', role: 'admin', path: '/ageing' },
  { name: 'revenue', role: 'admin', path: '/revenue' },
  { name: 'churn', role: 'admin', path: '/churn' },
  { name: 'plans', role: 'admin', path: '/plans' },
  { name: 'plan', role: 'admin', path: of('/plans', (id) => `/plans/${id}`) },
  { name: 'plan-new', role: 'admin', path: '/plans/new' },
  { name: 'dunning', role: 'admin', path: '/dunning' },
  { name: 'policies', role: 'admin', path: '/policies' },
  { name: 'sessions', role: 'admin', path: '/sessions' },
  { name: 'session', role: 'admin', path: of('/sessions', (id) => `/sessions/${id}`) },
  { name: 'differences', role: 'admin', path: '/differences' },
  { name: 'vouchers', role: 'admin', path: '/vouchers' },
  { name: 'messages', role: 'admin', path: '/messages' },
  { name: 'routers', role: 'admin', path: '/routers', phone: true },
  { name: 'router', role: 'admin', path: of('/nas/devices', (id) => `/routers/${id}`), phone: true },
  { name: 'router-new', role: 'admin', path: '/routers/new' },
  { name: 'devices', role: 'admin', path: '/devices', phone: true },
  { name: 'device', role: 'admin', path: of('/cpe/devices?q=DEMO000001', (id) => `/devices/${id}`), phone: true },
  { name: 'device-operations', role: 'admin', path: of('/cpe/devices?q=DEMO000001', (id) => `/devices/${id}?view=operations`) },
  { name: 'device-tests', role: 'admin', path: of('/cpe/devices?q=DEMO000001', (id) => `/devices/${id}?view=tests`) },
  { name: 'device-refuses', role: 'admin', path: of('/cpe/devices?q=DEMO000008', (id) => `/devices/${id}?view=faults`) },
  { name: 'device-optical', role: 'admin', path: of('/cpe/devices?q=DEMO000003', (id) => `/devices/${id}`) },
  { name: 'firmware', role: 'admin', path: '/firmware' },
  { name: 'campaign', role: 'admin', path: of('/cpe/firmware/campaigns?limit=1', (id) => `/campaigns/${id}`), phone: true },
  { name: 'device-script', role: 'admin', path: written },
  { name: 'device-scripts', role: 'admin', path: async (page) => written(page).then(() => '/device-scripts') },
  { name: 'device-faults', role: 'admin', path: '/device-faults' },
  { name: 'pending-devices', role: 'admin', path: '/pending-devices', phone: true },
  { name: 'outages', role: 'admin', path: '/outages' },
  { name: 'outage', role: 'admin', path: of('/outages?state=ended', (id) => `/outages/${id}`), phone: true },
  { name: 'outages-rules', role: 'admin', path: '/outages/rules' },
  { name: 'compensations', role: 'admin', path: '/compensations' },
  { name: 'compensation', role: 'admin', path: of('/compensations?state=finished', (id) => `/compensations/${id}`) },
  { name: 'compensation-preview', role: 'admin', path: of('/compensations?state=previewed', (id) => `/compensations/${id}`) },
  { name: 'compensation-new', role: 'admin', path: '/compensations/new' },
  { name: 'staff', role: 'admin', path: '/staff' },
  { name: 'tax-gateway', role: 'admin', path: '/tax-gateway' },
  { name: 'gateway', role: 'admin', path: '/gateway' },
  { name: 'organization', role: 'admin', path: '/organization' },
  { name: 'support-requests', role: 'admin', path: '/support' },
  { name: 'message-texts', role: 'admin', path: '/message-texts' },
  { name: 'message-text', role: 'admin', path: '/message-texts/invoice' },
  { name: 'api-keys', role: 'admin', path: async (page) => issued(page).then(() => '/api-keys') },
  { name: 'api-key', role: 'admin', path: issued },
  { name: 'api-key-new', role: 'admin', path: '/api-keys/new' },
  { name: 'webhook-delivery', role: 'admin', path: tried },
  { name: 'webhook', role: 'admin', path: async (page) => `/webhooks/${await told(page)}` },
  { name: 'webhooks', role: 'admin', path: '/webhooks' },
  { name: 'audit', role: 'admin', path: '/audit' },
  { name: 'system', role: 'admin', path: '/system' },
  { name: 'billing-runs', role: 'admin', path: '/billing-runs' },
  { name: 'batches', role: 'admin', path: '/batches' },
  { name: 'imports', role: 'admin', path: '/imports' },
  { name: 'import-proposal', role: 'admin', path: proposed },
  { name: 'export', role: 'admin', path: '/export' },
  { name: 'account', role: 'admin', path: '/account' },
  { name: 'platform', role: 'root', path: '/' },
  { name: 'platform-reconciliations', role: 'root', path: '/reconciliations' },
  { name: 'platform-reconciliation', role: 'root', path: compared },
  { name: 'platform-organizations', role: 'root', path: '/orgs' },
  { name: 'platform-organization', role: 'root', path: of('/orgs', (id) => `/orgs/${id}`) },
  { name: 'platform-organization-new', role: 'root', path: '/orgs/new' },
  { name: 'platform-pending-devices', role: 'root', path: '/pending-devices' },
  { name: 'platform-suspense', role: 'root', path: '/suspense' },
  { name: 'platform-settlement', role: 'root', path: '/settlement' },
  { name: 'platform-failed-callbacks', role: 'root', path: '/failed-callbacks' },
  { name: 'platform-bill-manager', role: 'root', path: '/bill-manager' },
  { name: 'platform-audit', role: 'root', path: '/audit' },
  { name: 'platform-system', role: 'root', path: '/system' },
]

/**
 * screens are all pages; those of one thing show the first that the demo has of it. LASTMILE_SCREENS takes some of them,
 * by their names: LASTMILE_SCREENS='^plan'.
 */
export const screens = all.filter((s) => new RegExp(process.env.LASTMILE_SCREENS ?? '').test(s.name))

/** pathOf gives the address of a screen below /app, asked by whoever is signed in on the page. */
export const pathOf = async (s: Screen, page: Page) => (typeof s.path === 'string' ? s.path : s.path(page))

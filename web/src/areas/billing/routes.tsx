import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** invoiceStates are the values of the filter state. */
const invoiceStates = ['draft', 'issued', 'partially_paid', 'paid', 'credited', 'written_off', 'voided'] as const

const invoices = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invoices',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      number: p.text('number'),
      state: p.oneOf('state', invoiceStates),
      overdue: p.flag('overdue') || undefined,
      subscriberId: p.text('subscriberId'),
    })
  },
  component: page('GET /invoices', () => import('./InvoicesPage')),
})

const newInvoice = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invoices/new',
  validateSearch: (raw) => given({ subscriberId: new Params(raw).text('subscriberId') }),
  component: page('POST /invoices', () => import('./NewInvoicePage')),
})

const invoice = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invoices/$id',
  component: page('GET /invoices/{id}', () => import('./InvoicePage')),
})

const reissue = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invoices/$id/reissue',
  component: page('POST /invoices/{id}/reissue', () => import('./ReissuePage')),
})

/** taxStates are the values of the filter state of documents for the tax authority. */
const taxStates = ['queued', 'signed', 'refused', 'withdrawn'] as const

const taxDocuments = createRoute({
  getParentRoute: () => rootRoute,
  path: '/tax-documents',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      state: p.oneOf('state', taxStates),
      late: p.flag('late') || undefined,
      subscriberId: p.text('subscriberId'),
    })
  },
  component: page('GET /tax-documents', () => import('./TaxDocumentsPage')),
})

const runs = createRoute({
  getParentRoute: () => rootRoute,
  path: '/billing-runs',
  component: page('GET /billing/runs', () => import('./RunsPage')),
})

const run = createRoute({
  getParentRoute: () => rootRoute,
  path: '/billing-runs/$id',
  component: page('GET /billing/runs/{id}', () => import('./RunPage')),
})

const batches = createRoute({
  getParentRoute: () => rootRoute,
  path: '/batches',
  component: page('GET /batches', () => import('./BatchesPage')),
})

const batch = createRoute({
  getParentRoute: () => rootRoute,
  path: '/batches/$id',
  component: page('GET /batches/{id}', () => import('./BatchPage')),
})

/** sides are the parts of a figure of collections whose payments can be listed. */
export const sides = ['received', 'takenBack', 'all'] as const

/** channels are those of payments; none is that of money without one. */
export const channels = ['stk', 'c2b', 'cash', 'cheque', 'bank_transfer', 'card', 'other', 'bill_manager', 'voucher', 'none'] as const

const collections = createRoute({
  getParentRoute: () => rootRoute,
  path: '/collections',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      from: p.date('from'), to: p.date('to'), on: p.date('on'), channel: p.oneOf('channel', channels),
      takenBy: p.text('takenBy'), side: p.oneOf('side', sides),
    })
  },
  component: page('GET /reports/collections', () => import('./CollectionsPage')),
})

export const billingRoutes = [runs, run, batches, batch, invoices, newInvoice, invoice, reissue, taxDocuments, collections] as const

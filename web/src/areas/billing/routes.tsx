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

const collections = createRoute({
  getParentRoute: () => rootRoute,
  path: '/collections',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ from: p.date('from'), to: p.date('to') })
  },
  component: page('GET /reports/collections', () => import('./CollectionsPage')),
})

export const billingRoutes = [invoices, newInvoice, invoice, collections] as const

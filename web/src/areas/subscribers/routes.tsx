import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** subscriberStatuses are the values of the filter status. */
const subscriberStatuses = ['active', 'blocked', 'forgotten'] as const

/** customerViews are the parts of a customer's page. */
export const customerViews = ['overview', 'statement', 'timeline', 'sessions', 'usage'] as const

const customers = createRoute({
  getParentRoute: () => rootRoute,
  path: '/customers',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      q: p.text('q'),
      status: p.oneOf('status', subscriberStatuses),
      access: p.oneOf('access', ['full', 'throttled', 'walled_garden', 'none'] as const),
      online: p.flag('online'),
      offBehind: p.text('offBehind'),
      planId: p.text('planId'),
      owes: p.flag('owes'),
      ends: p.oneOf('ends', ['week', 'past'] as const),
      tag: p.text('tag'),
      sort: p.oneOf('sort', ['newest', 'name', 'paidUntil', 'balance'] as const),
    })
  },
  component: page('GET /subscribers', () => import('./CustomersPage')),
})

const newCustomer = createRoute({
  getParentRoute: () => rootRoute,
  path: '/customers/new',
  component: page('POST /subscribers', () => import('./NewCustomerPage')),
})

const customer = createRoute({
  getParentRoute: () => rootRoute,
  path: '/customers/$id',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      view: p.oneOf('view', customerViews),
      kind: p.oneOf('kind', ['money', 'service', 'network', 'messages'] as const),
      range: p.oneOf('range', ['days', 'months'] as const),
      /** pay opens the dialog for a payment: other pages lead there. */
      pay: p.flag('pay'),
    })
  },
  component: page('GET /subscribers/{id}', () => import('./CustomerPage')),
})

export const subscribersRoutes = [customers, newCustomer, customer] as const

import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** subscriberStatuses are the values of the filter status. */
export const subscriberStatuses = ['active', 'blocked', 'forgotten'] as const

const customers = createRoute({
  getParentRoute: () => rootRoute,
  path: '/customers',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ q: p.text('q'), status: p.oneOf('status', subscriberStatuses), tag: p.text('tag') })
  },
  component: page('GET /subscribers', () => import('./CustomersPage')),
})

const customer = createRoute({
  getParentRoute: () => rootRoute,
  path: '/customers/$id',
  component: page('GET /subscribers/{id}', () => import('./CustomerPage')),
})

export const subscribersRoutes = [customers, customer] as const

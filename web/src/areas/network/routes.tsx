import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** routerStates are the values of the filter state. */
const routerStates = ['up', 'down', 'unknown'] as const

/** routerViews are the parts of a router's page. */
export const routerViews = [
  'overview', 'services', 'interfaces', 'sessions', 'refused', 'leases', 'queues', 'differences', 'script', 'history', 'settings',
] as const

const routers = createRoute({
  getParentRoute: () => rootRoute,
  path: '/routers',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ state: p.oneOf('state', routerStates), reachable: p.flag('reachable'), drift: p.flag('drift') })
  },
  component: page('GET /nas/fleet', () => import('./RoutersPage')),
})

const newRouter = createRoute({
  getParentRoute: () => rootRoute,
  path: '/routers/new',
  component: page('POST /nas/devices', () => import('./NewRouterPage')),
})

const router = createRoute({
  getParentRoute: () => rootRoute,
  path: '/routers/$id',
  validateSearch: (raw) => given({ view: new Params(raw).oneOf('view', routerViews) }),
  component: page('GET /nas/devices/{id}', () => import('./RouterPage')),
})

const newService = createRoute({
  getParentRoute: () => rootRoute,
  path: '/routers/$id/services/new',
  component: page('POST /nas/devices/{id}/services', () => import('./NewServicePage')),
})

const service = createRoute({
  getParentRoute: () => rootRoute,
  path: '/services/$id',
  component: page('GET /nas/services/{id}', () => import('./ServicePage')),
})

export const networkRoutes = [routers, newRouter, router, newService, service] as const

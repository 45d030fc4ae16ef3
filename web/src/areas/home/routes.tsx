import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** customerKinds are the changes that everybody of the staff reads. */
export const customerKinds = [
  'new_customer', 'walled_garden', 'suspended', 'restored', 'payment_failed', 'message_failed',
] as const

/** networkKinds are those that an admin reads, too. */
export const networkKinds = ['router_down', 'router_up', 'drift_found', 'service_failed'] as const

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: page('GET /auth/me', () => import('./HomePage')),
})

const changes = createRoute({
  getParentRoute: () => rootRoute,
  path: '/changes',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ kind: p.oneOf('kind', [...customerKinds, ...networkKinds]), from: p.text('from') })
  },
  component: page('GET /reports/changes', () => import('./ChangesPage')),
})

export const homeRoutes = [home, changes] as const

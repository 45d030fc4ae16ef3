import { createRouter } from '@tanstack/react-router'
import { accessRoutes } from '../areas/access/routes'
import { auditRoutes } from '../areas/audit/routes'
import { cpeRoutes } from '../areas/cpe/routes'
import { keysRoutes } from '../areas/identity/keys/routes'
import { identityRoutes } from '../areas/identity/routes'
import { platformRoutes } from '../areas/platform/routes'
import { settingsRoutes } from '../areas/settings/routes'
import { systemRoutes } from '../areas/system/routes'
import { billingRoutes } from '../areas/billing/routes'
import { importsRoutes } from '../areas/imports/routes'
import { homeRoutes } from '../areas/home/routes'
import { messagingRoutes } from '../areas/messaging/routes'
import { networkRoutes } from '../areas/network/routes'
import { outagesRoutes } from '../areas/outages/routes'
import { paymentsRoutes } from '../areas/payments/routes'
import { reportsRoutes } from '../areas/reports/routes'
import { planRoutes } from '../areas/subscribers/plans/routes'
import { approvalsRoutes } from '../areas/approvals/routes'
import { supportRoutes } from '../areas/support/routes'
import { subscribersRoutes } from '../areas/subscribers/routes'
import { webhooksRoutes } from '../areas/webhooks/routes'
import { Failed } from './Failed'
import { rootRoute } from './root'

const routeTree = rootRoute.addChildren([
  ...auditRoutes,
  ...identityRoutes,
  ...keysRoutes,
  ...platformRoutes,
  ...settingsRoutes,
  ...systemRoutes,
  ...homeRoutes,
  ...subscribersRoutes,
  ...planRoutes,
  ...paymentsRoutes,
  ...billingRoutes,
  ...reportsRoutes,
  ...accessRoutes,
  ...messagingRoutes,
  ...approvalsRoutes,
  ...supportRoutes,
  ...importsRoutes,
  ...networkRoutes,
  ...cpeRoutes,
  ...outagesRoutes,
  ...webhooksRoutes,
])

/** router knows every page. Addresses are below /app. */
export const router = createRouter({
  routeTree,
  basepath: '/app',
  defaultPreload: 'intent',
  defaultErrorComponent: Failed,
  scrollRestoration: true,
})

// The page is read while the person is asked for: nobody waits for one after the other.
void router.load()

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** found marks a page that was opened from the search: Esc leads back. */
    found?: boolean
  }
}

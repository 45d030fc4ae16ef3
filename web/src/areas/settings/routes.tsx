import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { rootRoute } from '../../app/root'

const organization = createRoute({
  getParentRoute: () => rootRoute,
  path: '/organization',
  component: page('GET /settings/organization', () => import('./OrganizationPage')),
})

const gateway = createRoute({
  getParentRoute: () => rootRoute,
  path: '/gateway',
  component: page('GET /settings/payment-gateway', () => import('./GatewayPage')),
})

export const settingsRoutes = [organization, gateway] as const

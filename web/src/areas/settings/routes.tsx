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

const taxGateway = createRoute({
  getParentRoute: () => rootRoute,
  path: '/tax-gateway',
  component: page('GET /settings/tax-gateway', () => import('./TaxGatewayPage')),
})

export const settingsRoutes = [organization, gateway, taxGateway] as const

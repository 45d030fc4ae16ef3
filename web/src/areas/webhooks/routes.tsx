import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

const webhooks = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  component: page('GET /webhook-endpoints', () => import('./WebhooksPage')),
})

const webhook = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/$id',
  validateSearch: (raw) => given({ state: new Params(raw).oneOf('state', ['pending', 'delivered', 'failed'] as const) }),
  component: page('GET /webhook-endpoints/{id}', () => import('./WebhookPage')),
})

const delivery = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/deliveries/$id',
  component: page('GET /webhook-deliveries/{id}', () => import('./DeliveryPage')),
})

export const webhooksRoutes = [webhooks, webhook, delivery] as const

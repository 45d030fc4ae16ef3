import { createRoute } from '@tanstack/react-router'
import { page } from '../../../app/page'
import { rootRoute } from '../../../app/root'

const keys = createRoute({
  getParentRoute: () => rootRoute,
  path: '/api-keys',
  component: page('GET /api-keys', () => import('./KeysPage')),
})

const newKey = createRoute({
  getParentRoute: () => rootRoute,
  path: '/api-keys/new',
  component: page('POST /api-keys', () => import('./NewKeyPage')),
})

const key = createRoute({
  getParentRoute: () => rootRoute,
  path: '/api-keys/$id',
  component: page('GET /api-keys/{id}', () => import('./KeyPage')),
})

export const keysRoutes = [keys, newKey, key] as const

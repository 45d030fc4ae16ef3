import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { rootRoute } from '../../app/root'

const system = createRoute({
  getParentRoute: () => rootRoute,
  path: '/system',
  component: page('GET /system/projections', () => import('./SystemPage')),
})

export const systemRoutes = [system] as const

import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { rootRoute } from '../../app/root'

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: page('GET /auth/me', () => import('./HomePage')),
})

export const homeRoutes = [home] as const

import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { rootRoute } from '../../app/root'

const account = createRoute({
  getParentRoute: () => rootRoute,
  path: '/account',
  component: page('GET /auth/me', () => import('./AccountPage')),
})

const staff = createRoute({
  getParentRoute: () => rootRoute,
  path: '/staff',
  component: page('GET /users', () => import('./StaffPage')),
})

const member = createRoute({
  getParentRoute: () => rootRoute,
  path: '/staff/$id',
  component: page('GET /users/{id}', () => import('./MemberPage')),
})

export const identityRoutes = [account, staff, member] as const

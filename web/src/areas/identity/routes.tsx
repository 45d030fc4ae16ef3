import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

const account = createRoute({
  getParentRoute: () => rootRoute,
  path: '/account',
  component: page('GET /auth/me', () => import('./AccountPage')),
})

const staff = createRoute({
  getParentRoute: () => rootRoute,
  path: '/staff',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      q: p.text('q'),
      role: p.oneOf('role', ['admin', 'support', 'subscriber'] as const),
      status: p.oneOf('status', ['invited', 'active', 'disabled'] as const),
    })
  },
  component: page('GET /users', () => import('./StaffPage')),
})

const member = createRoute({
  getParentRoute: () => rootRoute,
  path: '/staff/$id',
  component: page('GET /users/{id}', () => import('./MemberPage')),
})

export const identityRoutes = [account, staff, member] as const

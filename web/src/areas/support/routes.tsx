import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** supportStates are the values of the filter state. */
const supportStates = ['open', 'answered', 'closed'] as const

const requests = createRoute({
  getParentRoute: () => rootRoute,
  path: '/support',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      state: p.oneOf('state', supportStates), assigneeId: p.text('assigneeId'), unassigned: p.flag('unassigned'),
      subscriberId: p.text('subscriberId'),
    })
  },
  component: page('GET /support-requests', () => import('./SupportPage')),
})

const request = createRoute({
  getParentRoute: () => rootRoute,
  path: '/support/$id',
  component: page('GET /support-requests/{id}', () => import('./RequestPage')),
})

export const supportRoutes = [requests, request] as const

import { createRoute } from '@tanstack/react-router'
import { page } from '../../../app/page'
import { given, Params } from '../../../app/params'
import { rootRoute } from '../../../app/root'

const plans = createRoute({
  getParentRoute: () => rootRoute,
  path: '/plans',
  validateSearch: (raw) => given({ archived: new Params(raw).flag('archived') }),
  component: page('GET /plans', () => import('./PlansPage')),
})

const newPlan = createRoute({
  getParentRoute: () => rootRoute,
  path: '/plans/new',
  component: page('POST /plans', () => import('./NewPlanPage')),
})

const plan = createRoute({
  getParentRoute: () => rootRoute,
  path: '/plans/$id',
  validateSearch: (raw) => given({ edit: new Params(raw).flag('edit') || undefined }),
  component: page('GET /plans/{id}', () => import('./PlanPage')),
})

export const planRoutes = [plans, newPlan, plan] as const

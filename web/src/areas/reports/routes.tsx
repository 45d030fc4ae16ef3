import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

const ageing = createRoute({
  getParentRoute: () => rootRoute,
  path: '/ageing',
  validateSearch: (raw) => given({
    bucket: new Params(raw).oneOf('bucket', ['current', '1-30', '31-60', '61-90', 'over90'] as const),
  }),
  component: page('GET /reports/ageing', () => import('./AgeingPage')),
})

const settlement = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settlement',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ date: p.date('date'), to: p.date('to'), orgId: p.text('orgId') })
  },
  component: page('GET /reports/settlement', () => import('./SettlementPage')),
})

/** days are the first and the last day of a report. */
const days = (raw: Record<string, unknown>) => {
  const p = new Params(raw)
  return given({ from: p.date('from'), to: p.date('to') })
}

const revenue = createRoute({
  getParentRoute: () => rootRoute,
  path: '/revenue',
  validateSearch: days,
  component: page('GET /reports/revenue', () => import('./RevenuePage')),
})

const churn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/churn',
  validateSearch: days,
  component: page('GET /reports/churn', () => import('./ChurnPage')),
})

export const reportsRoutes = [ageing, settlement, revenue, churn] as const

import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

const pages = () => import('./pages')

/** approvalStates are the values of the filter state. */
const approvalStates = ['waiting', 'approved', 'carried_out', 'failed', 'refused', 'withdrawn', 'expired'] as const

const approvals = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ state: p.oneOf('state', approvalStates), subscriberId: p.text('subscriberId') })
  },
  component: page('GET /approvals', () => pages().then((m) => ({ default: m.Approvals }))),
})

const approval = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals/$id',
  component: page('GET /approvals/{id}', () => pages().then((m) => ({ default: m.Approval }))),
})

const corrections = createRoute({
  getParentRoute: () => rootRoute,
  path: '/corrections',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ from: p.date('from'), to: p.date('to') })
  },
  component: page('GET /reports/corrections', () => pages().then((m) => ({ default: m.Corrections }))),
})

export const approvalsRoutes = [approvals, approval, corrections] as const

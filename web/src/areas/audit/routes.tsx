import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

const audit = createRoute({
  getParentRoute: () => rootRoute,
  path: '/audit',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      actor: p.text('actor'),
      action: p.text('action'),
      target: p.text('target'),
      outcome: p.oneOf('outcome', ['succeeded', 'refused', 'failed'] as const),
      from: p.date('from'),
      to: p.date('to'),
      // orgId is a filter of the root host alone.
      orgId: p.text('orgId'),
      // entry names the row that is open, so that the address shows it to others, too.
      entry: p.text('entry'),
    })
  },
  component: page('GET /audit-log', () => import('./AuditPage')),
})

/** historyViews are the parts of a history, by which its address names them. */
export const historyViews = ['events', 'state', 'diff'] as const

const history = createRoute({
  getParentRoute: () => rootRoute,
  path: '/history/$type/$id',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      view: p.oneOf('view', historyViews),
      order: p.oneOf('order', ['newest', 'oldest'] as const),
      // Instants as the API has them.
      at: p.text('at'),
      from: p.text('from'),
      to: p.text('to'),
    })
  },
  component: page('GET /history/{type}/{id}', () => import('./HistoryPage')),
})

export const auditRoutes = [audit, history] as const

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

export const auditRoutes = [audit] as const

import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** outageStates are the values of the filter state. */
const outageStates = ['running', 'ended'] as const

/** compensationStates are the values of the filter state. */
const compensationStates = ['previewed', 'applying', 'finished'] as const

const outages = createRoute({
  getParentRoute: () => rootRoute,
  path: '/outages',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ state: p.oneOf('state', outageStates), deviceId: p.text('deviceId'), from: p.date('from'), to: p.date('to') })
  },
  component: page('GET /outages', () => import('./OutagesPage')),
})

const rules = createRoute({
  getParentRoute: () => rootRoute,
  path: '/outages/rules',
  component: page('GET /settings/outages', () => import('./RulesPage')),
})

const outage = createRoute({
  getParentRoute: () => rootRoute,
  path: '/outages/$id',
  component: page('GET /outages/{id}', () => import('./OutagePage')),
})

const compensations = createRoute({
  getParentRoute: () => rootRoute,
  path: '/compensations',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      state: p.oneOf('state', compensationStates), failed: p.flag('failed'), outageId: p.text('outageId'),
      from: p.date('from'), to: p.date('to'),
    })
  },
  component: page('GET /compensations', () => import('./CompensationsPage')),
})

const newCompensation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/compensations/new',
  validateSearch: (raw) => given({ outageId: new Params(raw).text('outageId') }),
  component: page('POST /compensations', () => import('./NewCompensationPage')),
})

const compensation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/compensations/$id',
  validateSearch: (raw) => given({ gets: new Params(raw).flag('gets') }),
  component: page('GET /compensations/{id}', () => import('./CompensationPage')),
})

export const outagesRoutes = [outages, rules, outage, compensations, newCompensation, compensation] as const

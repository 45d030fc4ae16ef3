import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** dunningStates are the values of the filter state of the board, from the mildest on. */
export const dunningStates = ['reminding', 'walled_garden', 'suspended', 'written_off'] as const

/** differenceKinds are the values of the filter kind. */
const differenceKinds = [
  'paid_but_offline', 'paid_but_walled_in', 'unpaid_but_online', 'wrong_rate', 'unknown_session', 'stale_session',
  'local_bypass', 'port_below_plan',
] as const

/** voucherStates are the values of the filter state of vouchers. */
export const voucherStates = ['unused', 'active', 'used', 'void'] as const

const sessions = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sessions',
  validateSearch: (raw) => {
    const p = new Params(raw)
    const ip = p.text('ip')
    const at = p.text('at')
    return given({
      online: p.flag('online'),
      username: p.text('username'),
      deviceId: p.text('deviceId'),
      subscriberId: p.text('subscriberId'),
      // One is nothing without the other.
      ...(ip && at ? { ip, at } : {}),
    })
  },
  component: page('GET /sessions', () => import('./SessionsPage')),
})

const session = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sessions/$id',
  component: page('GET /sessions/{id}', () => import('./SessionPage')),
})

const dunning = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dunning',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ state: p.oneOf('state', dunningStates), subscriberId: p.text('subscriberId'), hold: p.flag('hold') })
  },
  component: page('GET /dunning', () => import('./DunningPage')),
})

const policies = createRoute({
  getParentRoute: () => rootRoute,
  path: '/policies',
  validateSearch: (raw) => given({ name: new Params(raw).text('name') }),
  component: page('GET /settings/dunning', () => import('./PoliciesPage')),
})

const differences = createRoute({
  getParentRoute: () => rootRoute,
  path: '/differences',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      kind: p.oneOf('kind', differenceKinds), deviceId: p.text('deviceId'), subscriberId: p.text('subscriberId'),
    })
  },
  component: page('GET /access-differences', () => import('./DifferencesPage')),
})

const vouchers = createRoute({
  getParentRoute: () => rootRoute,
  path: '/vouchers',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      view: p.oneOf('view', ['batches'] as const),
      state: p.oneOf('state', voucherStates), planId: p.text('planId'), batchId: p.text('batchId'),
    })
  },
  component: page('GET /vouchers', () => import('./VouchersPage')),
})

const subscription = createRoute({
  getParentRoute: () => rootRoute,
  path: '/subscriptions/$id',
  component: page('GET /subscriptions/{id}', () => import('./SubscriptionPage')),
})

export const accessRoutes = [
  sessions, session, dunning, policies, differences, vouchers, subscription,
] as const

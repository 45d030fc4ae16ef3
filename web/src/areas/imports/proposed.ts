import type { Shape } from '../../api/types'

/** Proposed is a profile of a router as a plan. */
export type Proposed = Shape<'ProposedPlan'>

/** Figure is a number while it is typed; '' is an empty field. */
export type Figure = number | ''

/** Draft is what a person gives to a proposed plan: its price, and speeds in Mbps. */
export interface Draft {
  price: Figure
  down: Figure
  up: Figure
}

/** Terms are those of all plans that are made together. */
export interface Terms {
  mode: 'prepaid' | 'postpaid'
  period: 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year'
}

const mega = (kbits: number | undefined): Figure => (kbits === undefined ? '' : kbits / 1000)
const kilo = (mbits: Figure) => Math.round(Number(mbits) * 1000)

/** draftOf has the speeds of the router, and no price: nobody knows it but the person. */
export const draftOf = (p: Proposed): Draft => ({ price: '', down: mega(p.rates?.down), up: mega(p.rates?.up) })

/** isReady: all is given that the plan needs, and it is not here yet. */
export const isReady = (p: Proposed, d: Draft) => !p.planId && d.price !== '' && Number(d.down) > 0 && Number(d.up) > 0

/** bodyOf is the plan as the API takes it. The burst stays as long as the speeds are those of the router. */
export function bodyOf(p: Proposed, d: Draft, terms: Terms, currency: string): Shape<'PlanRequest'> {
  const rates = { down: kilo(d.down), up: kilo(d.up) }
  const same = rates.down === p.rates?.down && rates.up === p.rates?.up
  return {
    code: p.code, name: p.name, kind: p.kind, price: Number(d.price), currency, billing: { ...terms },
    rates: { ...rates, ...(same && p.rates?.burst ? { burst: p.rates.burst } : {}) },
  }
}

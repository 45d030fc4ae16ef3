import type { Operation } from '../../api/access'
import type { Today } from './today'

type Counts = Pick<Today, 'customers' | 'devices'>

/** Step is one of the things without which nobody can be served, in the order in which they are done. */
export interface Step {
  code: 'plan' | 'gateway' | 'router' | 'customer'
  done: boolean
  to: string
}

/** beginNeeds are the calls that the steps are done with. */
export const beginNeeds: Operation[] = ['POST /plans', 'PUT /settings/payment-gateway', 'POST /nas/devices', 'POST /subscribers']

// Whoever has served some customers without a router of the platform does not need to be told how to begin.
const few = 10

/** begins reports whether an organization is so new that it may need its first steps. The figures of today tell it. */
export function begins({ customers, devices }: Counts): boolean {
  return customers.total === 0 || (devices?.total === 0 && customers.total < few)
}

/** onlyZeros reports whether there is nothing to read but the steps. */
export function onlyZeros(r: Today): boolean {
  const { month, lastMonth } = r.money
  return r.customers.total === 0 && r.faults.length === 0 && r.suspense.count === 0 && month.count === 0 && lastMonth.count === 0
}

/** stepsOf gives the steps; none when all are done. */
export function stepsOf({ customers, devices }: Counts, plans: number, paying: boolean): Step[] {
  const steps: Step[] = [
    { code: 'plan', done: plans > 0, to: '/plans/new' },
    { code: 'gateway', done: paying, to: '/gateway' },
    { code: 'router', done: (devices?.total ?? 0) > 0, to: '/routers/new' },
    { code: 'customer', done: customers.total > 0, to: '/customers/new' },
  ]
  return steps.every((s) => s.done) ? [] : steps
}

import type { Shape } from '../../api/types'
import { holdActs } from '../access/holdActs'
import type { ServiceAct } from './doing'

/**
 * serviceActs is what can be done with a service in its state, in the order of the menu: nothing that the API refuses
 * whatever is typed. held is null while it is not known whether there is a hold.
 */
export function serviceActs(
  { state, cap }: Pick<Shape<'SubscriptionResponse'>, 'state' | 'cap'>,
  held: boolean | null,
): ServiceAct[] {
  if (state === 'ended') return []
  const acts: ServiceAct[] = ['credentials', 'new_credentials', 'addresses']
  if (cap && state === 'active') acts.push('top_up')
  acts.push('extra')
  if (held !== null) acts.push(...holdActs(held))
  if (state !== 'paused') acts.push('change_plan')
  if (state === 'active') acts.push('pause')
  if (state === 'paused') acts.push('resume')
  return [...acts, 'end']
}

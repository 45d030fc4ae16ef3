import type { mayCall } from '../../api/access'

/** HoldAct is what can be done about the hold of a service. */
export type HoldAct = 'place' | 'move' | 'lift'

/** holdNeeds is what a person must be allowed to, for each. */
export const holdNeeds = {
  place: 'POST /subscriptions/{id}/hold',
  move: 'POST /subscriptions/{id}/hold',
  lift: 'DELETE /subscriptions/{id}/hold',
} as const satisfies Record<HoldAct, Parameters<typeof mayCall>[1]>

/**
 * holdActs is what the API takes about the hold of a service that has not ended, whatever is paid or cut. There is at
 * most one: it is moved or lifted.
 */
export function holdActs(held: boolean): HoldAct[] {
  return held ? ['move', 'lift'] : ['place']
}

/** extraKinds are what invoices of a service can have beside the price of its plan, as the API's paths name them. */
export const extraKinds = ['charges', 'add-ons', 'discounts'] as const

export type ExtraKind = (typeof extraKinds)[number]

/** extraPaths are where each kind is added and removed. */
export const extraPaths = {
  charges: { add: '/subscriptions/{id}/charges', remove: '/subscriptions/{id}/charges/{extraId}' },
  'add-ons': { add: '/subscriptions/{id}/add-ons', remove: '/subscriptions/{id}/add-ons/{extraId}' },
  discounts: { add: '/subscriptions/{id}/discounts', remove: '/subscriptions/{id}/discounts/{extraId}' },
} as const

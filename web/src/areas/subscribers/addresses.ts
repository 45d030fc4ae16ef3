import type { Shape } from '../../api/types'

/** TypedAddresses is what the form of a service's addresses holds; equipment has one address in each line. */
interface TypedAddresses {
  macs: string
  staticIp: string
  routes: string
}

/** addressesOf fills the form; null = nothing was read yet. */
export const addressesOf = (s: Pick<Shape<'SubscriptionResponse'>, 'macAddresses' | 'staticIp' | 'routes'> | null): TypedAddresses => ({
  macs: s?.macAddresses.join('\n') ?? '', staticIp: s?.staticIp ?? '', routes: s?.routes.join('\n') ?? '',
})

const listed = (lines: string) => lines.split(/[\s,;]+/).filter(Boolean)

/** addressesTyped is the request for what differs from before: what is not typed here may be another one's change. */
export function addressesTyped(before: TypedAddresses, t: TypedAddresses): Shape<'AddressesPatch'> {
  return {
    ...(listed(t.macs).join() !== listed(before.macs).join() && { macAddresses: listed(t.macs) }),
    ...(listed(t.routes).join() !== listed(before.routes).join() && { routes: listed(t.routes) }),
    ...(t.staticIp.trim() !== before.staticIp && { staticIp: t.staticIp.trim() || null }),
  }
}

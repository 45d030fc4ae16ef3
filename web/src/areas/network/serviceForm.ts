import type { Shape } from '../../api/types'
import type { Service } from './words'

/** TypedService is the form of a service as it is typed; lists have one entry in each line. */
export interface TypedService {
  type: Service['type']
  parentInterface: string
  vlanId: number | ''
  subnet: string
  gateway: string
  poolStart: string
  poolEnd: string
  domains: string
  addresses: string
}

/** noService is the form before anything is chosen. */
export const noService: TypedService = {
  type: 'pppoe', parentInterface: '', vlanId: '', subnet: '', gateway: '', poolStart: '', poolEnd: '', domains: '', addresses: '',
}

/** typedOf is the form of a service that exists. */
export function typedOf(s: Service): TypedService {
  return {
    type: s.type, parentInterface: s.parentInterface, vlanId: s.vlanId ?? '', subnet: s.subnet, gateway: s.gateway,
    poolStart: s.poolStart, poolEnd: s.poolEnd, domains: s.walledGarden.domains.join('\n'), addresses: s.walledGarden.addresses.join('\n'),
  }
}

const linesOf = (text: string) => text.split(/[\s,;]+/).filter(Boolean)
const gardenOf = (t: TypedService) => ({ domains: linesOf(t.domains), addresses: linesOf(t.addresses) })
const addressing = ['subnet', 'gateway', 'poolStart', 'poolEnd'] as const

/** hasGarden reports whether services of a type have a walled garden. */
export const hasGarden = (type: Service['type']) => type !== 'cpe-management'

/** requested is the request for a new service; what is empty the platform gives. */
export function requested(t: TypedService): Shape<'ServiceRequest'> {
  const garden = gardenOf(t)
  return {
    type: t.type,
    parentInterface: t.parentInterface,
    ...(t.vlanId !== '' && { vlanId: t.vlanId }),
    ...Object.fromEntries(addressing.filter((f) => t[f].trim()).map((f) => [f, t[f].trim()])),
    ...(hasGarden(t.type) && garden.domains.length + garden.addresses.length > 0 && { walledGarden: garden }),
  }
}

/** changed is the request for what differs from before; empty when nothing does. Another subnet gets its own pool. */
export function changed(before: TypedService, t: TypedService): Shape<'ServiceChange'> {
  const change: Shape<'ServiceChange'> = {}
  if (t.type !== before.type) change.type = t.type
  if (t.parentInterface !== before.parentInterface) change.parentInterface = t.parentInterface
  if (t.vlanId !== before.vlanId) change.vlanId = t.vlanId === '' ? null : t.vlanId
  const moved = t.subnet.trim() !== before.subnet
  for (const f of addressing) {
    if (t[f].trim() !== before[f]) change[f] = t[f].trim() || null
    else if (moved && f !== 'subnet') change[f] = null
  }
  if (hasGarden(t.type) && JSON.stringify(gardenOf(t)) !== JSON.stringify(gardenOf(before))) change.walledGarden = gardenOf(t)
  return change
}

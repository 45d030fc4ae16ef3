import type { Shape } from '../../api/types'
import type { outagesText } from '../../text/outages'

type Texts = Pick<(typeof outagesText)['en'], 'serviceOn' | 'areaOf' | 'unknownPlace'>

/** Placed is what an outage and a compensation say about their place. */
type Placed = Pick<Shape<'OutageResponse'>, 'deviceId' | 'deviceName' | 'service' | 'tag'>

/** placeOf names the place of an outage or a compensation. */
export function placeOf(p: Placed, t: Texts): string {
  if (p.deviceId) return p.deviceName ?? p.deviceId
  if (p.service) return t.serviceOn(p.service.type, p.service.parentInterface, p.service.deviceName ?? p.service.deviceId)
  return p.tag ? t.areaOf(p.tag) : t.unknownPlace
}

/** nameOf is the title that somebody gave an outage, or its place. */
export const nameOf = (o: Placed & { title: string | null }, t: Texts) => o.title ?? placeOf(o, t)

/** Kind says which kind of place is typed. */
export type Kind = 'device' | 'service' | 'tag'

/** TypedPlace is a place as it is typed into a form. */
export interface TypedPlace {
  kind: Kind
  deviceId: string | null
  serviceId: string | null
  tag: string
}

/** noPlace is a form before anything is typed. */
export const noPlace: TypedPlace = { kind: 'device', deviceId: null, serviceId: null, tag: '' }

/** sentPlace is the place of a request; null = one is still to be chosen. */
export function sentPlace(p: TypedPlace): { deviceId: string } | { serviceId: string } | { tag: string } | null {
  if (p.kind === 'tag') return p.tag.trim() ? { tag: p.tag.trim() } : null
  if (p.kind === 'service') return p.serviceId ? { serviceId: p.serviceId } : null
  return p.deviceId ? { deviceId: p.deviceId } : null
}

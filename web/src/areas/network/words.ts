import type { Row } from '../../api/rows'
import type { Shape } from '../../api/types'
import type { Tone } from '../../ui/State'

export type Device = Row<'/nas/devices'>
export type Service = Row<'/nas/devices/{id}/services'>
export type Difference = Shape<'DiffResponse'>

/** toneOfRouter is how well a router of the list is. */
export function toneOfRouter(r: Pick<Row<'/nas/fleet'>, 'state' | 'services' | 'drift'>): Tone {
  if (r.state === 'down' || r.services.failed > 0) return 'bad'
  if (r.state === 'unknown') return 'quiet'
  return r.drift ? 'attention' : 'good'
}

const tones: Record<Service['state'], Tone> = { pending: 'quiet', active: 'good', degraded: 'attention', failed: 'bad' }

/** toneOfService is how well a service is. */
export const toneOfService = (s: Pick<Service, 'state' | 'removing' | 'working'>): Tone =>
  s.removing || s.working ? 'quiet' : tones[s.state]

/** moves reports whether a service changes by itself soon, so that its page looks again. */
export const moves = (s: Service | undefined): boolean => s !== undefined && (s.working || s.removing || s.state === 'pending')

/** lookAgain is how often a page looks at what moves, beside the stream, in milliseconds. */
export const lookAgain = 3_000

/** placeOf writes where a service is: ether4, VLAN 20. */
export function placeOf(s: Pick<Service, 'parentInterface' | 'vlanId'>, t: { vlan: (id: number) => string }): string {
  return s.vlanId === null ? s.parentInterface : `${s.parentInterface}, ${t.vlan(s.vlanId)}`
}

import type { Shape } from '../../api/types'

/** chosenMark begins the part of an address behind which the choice of an organization comes: its id and a token. */
export const chosenMark = '#chosen='

/** pagesOf are the pages of a role: customers have pages of their own. */
export const pagesOf = (role: string) => (role === 'subscriber' ? '/portal/' : '/app/')

/** placeAddress is where a person goes on who has chosen an organization at the platform's own address. */
export function placeAddress(place: Shape<'MembershipResponse'>, token: string, at: { protocol: string; host: string }): string {
  return `${at.protocol}//${place.slug}.${at.host}${pagesOf(place.role)}${chosenMark}${place.id}/${token}`
}

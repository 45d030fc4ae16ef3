import type { Shape } from '../../api/types'
import { instantOf } from '../../text/instant'
import { noPlace, sentPlace, type TypedPlace } from './place'

/** TypedCompensation is the form of a compensation as it is typed. */
export interface TypedCompensation {
  /** outageId is the outage that names place and time; null = both are typed. */
  outageId: string | null
  byPlace: boolean
  place: TypedPlace
  /** from and to are local; with an outage "" takes its own. */
  from: string
  to: string
  give: 'proportional' | 'days' | 'money'
  days: number | ''
  amount: number | ''
  reason: string
}

/** noCompensation is the form before anything is typed. */
export const noCompensation: TypedCompensation = {
  outageId: null, byPlace: false, place: noPlace, from: '', to: '', give: 'proportional', days: 1, amount: '', reason: '',
}

/** previewed is the request for a preview; null = something is still to be typed. */
export function previewed(c: TypedCompensation, timezone: string): Shape<'CompensationRequest'> | null {
  const at = (local: string) => instantOf(local, timezone).toISOString()
  const where = c.byPlace ? sentPlace(c.place) : c.outageId ? { outageId: c.outageId } : null
  const give = giveOf(c)
  if (!where || !give || !c.reason.trim() || (c.byPlace && (!c.from || !c.to))) return null
  return { ...where, ...(c.from && { from: at(c.from) }), ...(c.to && { to: at(c.to) }), give, reason: c.reason.trim() }
}

function giveOf(c: TypedCompensation): Shape<'GiveRequest'> | null {
  if (c.give === 'days') return c.days === '' ? null : { days: c.days }
  if (c.give === 'money') return c.amount === '' ? null : { money: c.amount }
  return { proportional: true }
}

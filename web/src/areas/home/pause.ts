import { passes, readUntilRead } from '../../api/again'
import type { Fault } from './today'

// How long Home waits before it reads again, in milliseconds. Payments and routers tell by themselves; nobody tells that
// a part of the program is back, and people wait for it.
const ordinary = 60_000
const whileDown = 7_000

const mending: Fault['kind'][] = ['nothing_saved', 'part_down']

/** pauseOf is how long Home waits before it reads again: a short time as long as it says that a part does not work. */
export function pauseOf({ state: { data, error } }: {
  state: { data?: { faults: Pick<Fault, 'kind'>[] }; error: object | null }
}): number {
  if (error !== null && !passes(error)) return ordinary
  if (data?.faults.some((f) => mending.includes(f.kind))) return whileDown
  return readUntilRead({ state: { error } }) || ordinary
}

import type { Shape } from '../../api/types'

export type Part = Shape<'Part'>
export type Process = Shape<'ProcessState'>
export type Projection = Shape<'ProjectionResponse'>
export type Breaker = Shape<'BreakerState'>

/** isDown says that a part of the program does not do its work. */
export const isDown = (p: Pick<Part, 'state'>) => p.state === 'down'

/** waits says that a part is down as another one is for which it waits: it comes back with that one. */
export const waits = (p: Pick<Part, 'state' | 'waitsFor'>, all: Pick<Part, 'name' | 'state'>[]) =>
  isDown(p) && all.some((o) => isDown(o) && p.waitsFor.includes(o.name))

/** hasStopped says that a process has stopped, or a part of it. */
export const hasStopped = (p: Pick<Process, 'state' | 'stopped'>) => p.state === 'stopped' || p.stopped.length > 0

/** standsStill says that a read model has stopped, or the tables that are to replace its present ones. */
export const standsStill = (p: Pick<Projection, 'state' | 'rebuild'>) => p.state === 'stopped' || !!p.rebuild?.error

/** conditionOf is a breaker's state, or failing: it is called still, and nobody knows that it answers. */
export const conditionOf = (b: Pick<Breaker, 'state' | 'failures'>) =>
  b.state === 'closed' && b.failures > 0 ? 'failing' : b.state

/** amissOf counts what needs a look. A list that has not been read has nothing. */
export function amissOf({ parts = [], processes = [], projections = [], breakers = [] }: {
  parts?: Pick<Part, 'state'>[]
  processes?: Pick<Process, 'state' | 'stopped'>[]
  projections?: Pick<Projection, 'state' | 'rebuild'>[]
  breakers?: Pick<Breaker, 'state' | 'failures'>[]
}): number {
  return parts.filter(isDown).length + processes.filter(hasStopped).length + projections.filter(standsStill).length +
    breakers.filter((b) => conditionOf(b) !== 'closed').length
}

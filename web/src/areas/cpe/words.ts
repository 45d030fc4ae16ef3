import type { Shape } from '../../api/types'
import type { Tone } from '../../ui/State'

/** Device is the equipment in a customer's home. */
export type Device = Shape<'CpeResponse'>

/** WholeDevice is one with its optical end, as its own page shows it. */
export type WholeDevice = Shape<'CpeDevice'>

/** Operation is one write to a device. */
export type Operation = Shape<'CpeOperation'>

/** Condition says how long ago a device has called. */
export type Condition = 'online' | 'offline' | 'stale'

/** conditionOf judges a device by its last call. */
export const conditionOf = (d: Pick<Device, 'online' | 'stale'>): Condition => (d.online ? 'online' : d.stale ? 'stale' : 'offline')

/** toneOf is how well a device is. */
export const toneOf = (c: Condition): Tone => ({ online: 'good', offline: 'attention', stale: 'bad' } as const)[c]

/** filtersOf gives the filters of a list that a choice of condition sets. */
export function filtersOf(c: Condition | undefined): { online?: boolean; stale?: boolean } {
  if (c === undefined) return { online: undefined, stale: undefined }
  return c === 'stale' ? { online: undefined, stale: true } : { online: c === 'online', stale: undefined }
}

/** choiceOf reads the choice back from the filters. */
export function choiceOf(f: { online?: boolean; stale?: boolean }): Condition | undefined {
  if (f.stale) return 'stale'
  return f.online === undefined ? undefined : f.online ? 'online' : 'offline'
}

const tones: Record<Operation['state'], Tone> = {
  queued: 'quiet', sent: 'quiet', confirmed: 'good', failed: 'bad', expired: 'attention',
}

/** toneOfOperation is how well a write has gone. */
export const toneOfOperation = (o: Pick<Operation, 'state'>): Tone => tones[o.state]

/** goesOn reports whether a write has not ended yet. */
export const goesOn = (o: Pick<Operation, 'state'>): boolean => o.state === 'queued' || o.state === 'sent'

/** kindName names a device by maker and model; null while it has told neither. */
export const kindName = (d: { manufacturer: string | null; model: string | null }): string | null =>
  [d.manufacturer, d.model].filter(Boolean).join(' ') || null

/** stepsOf splits the steps of an operation into those that are done and those that are not. */
export const stepsOf = (o: Pick<Operation, 'steps'>) => ({
  done: o.steps.filter((s) => s.done).map((s) => s.name), left: o.steps.filter((s) => !s.done).map((s) => s.name),
})

/** modelsOf lists the models that some devices have told, each once. */
export const modelsOf = (all: Pick<Device, 'model'>[]): string[] =>
  [...new Set(all.map((d) => d.model).filter((m) => m !== null))].sort()

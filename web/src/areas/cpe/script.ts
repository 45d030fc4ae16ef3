import type { Shape } from '../../api/types'
import type { Tone } from '../../ui/State'

/** State is how far a script has come on its way to the CPE server. */
type State = Shape<'CpeProvision'>['state']

const tones: Record<State, Tone> = { waiting: 'quiet', installed: 'good', refused: 'bad', removing: 'quiet' }

/** toneOfScript is how well a script is. */
export const toneOfScript = ({ state }: { state: State }): Tone => tones[state]

/** comes reports whether a script is on its way to the CPE server, or from it. */
export const comes = (s: { state: State } | undefined): boolean => s?.state === 'waiting' || s?.state === 'removing'

/** namesScript reports whether the CPE server takes a name. */
export const namesScript = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name)

/** rangeOf finds a line of a text, counted from 1: where it begins, and where it ends. */
export function rangeOf(text: string, line: number): [start: number, end: number] {
  const before = text.split('\n').slice(0, line - 1)
  const start = Math.min(text.length, before.reduce((sum, l) => sum + l.length + 1, 0))
  const end = text.indexOf('\n', start)
  return [start, end < 0 ? text.length : end]
}

/** lineIn gives the line at which a script was refused, as the answer names it; null when it names none. */
export const lineIn = (details: Record<string, unknown> | undefined): number | null =>
  typeof details?.line === 'number' && details.line > 0 ? details.line : null

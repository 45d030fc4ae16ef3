import type { Row } from '../../api/rows'
import type { Tone } from '../../ui/State'

export type Compared = Pick<Row<'/reconciliations'>, 'state' | 'figures'>

/** differs reports whether a comparison has found something that somebody should look at. */
export const differs = ({ figures: f }: Pick<Compared, 'figures'>) => f.missingHere + f.missingThere + f.different + f.attention > 0

/** toneOf says whether a compared statement needs somebody. */
export function toneOf(r: Compared): Tone {
  if (r.state === 'failed') return 'bad'
  if (r.state !== 'compared') return 'quiet'
  return differs(r) ? 'attention' : 'good'
}

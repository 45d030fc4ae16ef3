import { serverNow } from '../../app/clock'
import type { Shape } from '../../api/types'

/** untold is true while an outage lasts whose customers were not told, and are not by now. */
export const untold = (o: Pick<Shape<'OutageResponse'>, 'state' | 'tellAfter'>, now = serverNow()) =>
  o.state === 'running' && (o.tellAfter === null || Date.parse(o.tellAfter) > now)

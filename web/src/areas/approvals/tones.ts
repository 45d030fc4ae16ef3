import type { Shape } from '../../api/types'
import type { Tone } from '../../ui/State'

/** tones are the colours of the states of approvals. */
export const tones: Record<Shape<'ApprovalResponse'>['state'], Tone> = {
  waiting: 'attention',
  approved: 'quiet',
  carried_out: 'good',
  failed: 'bad',
  refused: 'quiet',
  withdrawn: 'quiet',
  expired: 'quiet',
}

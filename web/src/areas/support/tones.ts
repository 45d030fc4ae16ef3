import type { Row } from '../../api/rows'
import type { Tone } from '../../ui/State'

/** tones say how much a request needs somebody. */
export const tones: Record<Row<'/support-requests'>['state'], Tone> = { open: 'attention', answered: 'good', closed: 'quiet' }

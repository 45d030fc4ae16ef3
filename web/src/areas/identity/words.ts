import type { Row } from '../../api/rows'
import type { Tone } from '../../ui/State'

export type Member = Row<'/users'>

/** memberTones say how good the status of a member is. */
export const memberTones: Record<Member['status'], Tone> = { active: 'good', invited: 'attention', disabled: 'quiet' }

/** fullName is the name of a person as one writes it. */
export const fullName = (m: { firstName: string; lastName?: string }) => [m.firstName, m.lastName].filter(Boolean).join(' ')

/** passwordOver = somebody can sign in again only after an administrator has given another temporary password. */
export const passwordOver = (m: Pick<Member, 'status' | 'temporaryPasswordUntil'>, now: number) =>
  m.status === 'invited' && m.temporaryPasswordUntil !== null && new Date(m.temporaryPasswordUntil).getTime() <= now

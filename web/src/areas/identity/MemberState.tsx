import { useNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { State } from '../../ui/State'
import { type Member, memberTones, passwordOver } from './words'

/** MemberState says whether somebody can sign in: with a temporary password only as long as it works. */
export function MemberState({ member }: { member: Member }) {
  const t = useText(identityText)
  const now = useNow()
  if (passwordOver(member, now)) return <State tone="bad" title={t.temporaryOver}>{t.statusExpired}</State>
  return <State tone={memberTones[member.status]} title={t.statusHints[member.status]}>{t.statuses[member.status]}</State>
}

import { Text } from '@mantine/core'
import type { Row } from '../../../api/rows'
import { apiKeysText } from '../../../text/apiKeys'
import { useText } from '../../../text/catalogue'
import { State, type Tone } from '../../../ui/State'
import { When } from '../../../ui/When'

/** ApiKey is a key without its text. */
export type ApiKey = Row<'/api-keys'>

/** personOf names somebody; who was forgotten has no name any more. */
export const personOf = (p: ApiKey['createdBy']) => p.name ?? p.id.slice(0, 8)

const tones: Record<ApiKey['state'], Tone> = { active: 'good', expired: 'attention', stopped: 'attention', revoked: 'quiet' }

/** KeyState says whether a key opens anything. */
export function KeyState({ of }: { of: ApiKey }) {
  const t = useText(apiKeysText)
  return <State tone={tones[of.state]} title={t.stateHints[of.state] || undefined}>{t.states[of.state]}</State>
}

/** LastUse tells when a key was used last, and from where. */
export function LastUse({ of }: { of: ApiKey }) {
  const t = useText(apiKeysText)
  if (!of.lastUsedAt) return <Text span inherit c="dimmed">{t.never}</Text>
  return <><When at={of.lastUsedAt} />{of.lastUsedFrom && <> {t.usedFrom(of.lastUsedFrom)}</>}</>
}

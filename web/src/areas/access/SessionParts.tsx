// What the list of sessions and the page of one have in common.
import { Text } from '@mantine/core'
import type { Row } from '../../api/rows'
import { useNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { sessionsText } from '../../text/sessions'
import { CustomerLink } from '../../ui/CustomerLink'
import { State } from '../../ui/State'

/** Session is one of a customer, or of a voucher. */
export type Session = Row<'/sessions'>

/** Whose names who the session belongs to: a customer, a voucher, or nobody here. */
export function Whose({ of: s }: { of: Session }) {
  const t = useText(sessionsText)
  if (s.subscriber) return <CustomerLink of={s.subscriber} />
  return <Text span inherit c="dimmed">{s.voucherId ? t.voucher : t.nobody}</Text>
}

/** SessionState tells whether the session goes on, or what ended it. */
export function SessionState({ of: s }: { of: Session }) {
  const t = useText(sessionsText)
  if (s.endedAt) {
    const [short, sentence] = t.ends[s.endReason ?? ''] ?? [s.endReason ?? '', '']
    return <State tone="quiet" title={sentence}>{t.endedBy(short)}</State>
  }
  // Who only reaches the payment page is connected, and yet not online as customers mean it.
  if (s.access === 'walled_garden') return <State tone="attention" title={t.accesses.walled_garden}>{t.online}</State>
  return <State tone="good">{t.online}</State>
}

/** Lasted is how long the session lasted, or has lasted until now. */
export function Lasted({ of: s }: { of: Session }) {
  const f = useFormat()
  const now = useNow()
  return <>{f.duration(secondsOf(s, now))}</>
}

/** secondsOf is the length of a session that ended, or goes on. */
export function secondsOf(s: Session, now: number): number {
  return Math.max(0, ((s.endedAt ? Date.parse(s.endedAt) : now) - Date.parse(s.startedAt)) / 1000)
}

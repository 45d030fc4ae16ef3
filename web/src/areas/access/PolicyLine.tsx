import { Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { policiesText } from '../../text/policies'
import { type Policy, stepsOf, stretchesOf } from './policy'
import './access.css'

/** PolicyLine draws what happens when to somebody who does not pay, and tells it in words below. */
export function PolicyLine({ of: policy }: { of: Policy }) {
  const t = useText(policiesText)
  const when = (day: number) => (day === 0 ? t.dueDay : day < 0 ? t.before(-day) : t.after(day))
  return (
    <>
      <div className="policy-line" aria-hidden>
        {stretchesOf(policy).map((s) => (
          // The square root leaves short stretches wide enough for their words.
          <div key={s.access} data-access={s.access} style={{ flexGrow: Math.sqrt(s.days) }}>
            <Text span size="sm" fw={500}>{t.stretch[s.access]}</Text>
            <Text span size="xs">{t.days(s.days)}</Text>
          </div>
        ))}
      </div>
      <ol className="policy-steps">
        {stepsOf(policy).map((s) => (
          <li key={`${s.day} ${s.what}`}>
            <Text span size="sm" c="dimmed" className="figure">{when(s.day)}</Text>
            <Text span size="sm">{t.what[s.what]}</Text>
          </li>
        ))}
      </ol>
    </>
  )
}

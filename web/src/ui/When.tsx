import { Text } from '@mantine/core'
import { useNow } from '../app/clock'
import { useFormat } from '../text/format'

/**
 * When shows an instant relative to now, with the exact one on hover; `exact` shows day and time instead, on narrow
 * screens without the day of the week.
 */
export function When({ at, exact }: { at: string | null | undefined; exact?: boolean }) {
  const f = useFormat()
  const now = useNow()
  if (!at) return <Text span inherit c="dimmed">–</Text>
  return (
    <time dateTime={at} title={f.exact(at)}>
      {exact ? <><span className="weekday">{f.weekday(at)}, </span>{f.minute(at, now)}</> : f.relative(at, now)}
    </time>
  )
}

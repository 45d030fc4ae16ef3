import { Button, Group } from '@mantine/core'
import type { All } from '../api/all'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { State } from './State'
import { useSecondsLeft } from './useSecondsLeft'

/** PartNote stands beside a field that offers a part of what there is, because the rest could not be read. */
export function PartNote({ of }: { of: Pick<All<unknown>, 'error' | 'retry'> }) {
  const t = useText(uiText)
  const left = useSecondsLeft(of.error)
  if (!of.error) return null
  return (
    <Group gap="xs" role="alert">
      <State tone="attention">{t.part}</State>
      <Button size="compact-sm" variant="default" onClick={of.retry} disabled={left > 0}>{t.retry}</Button>
    </Group>
  )
}

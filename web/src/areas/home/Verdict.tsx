import { Group, Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { homeText } from '../../text/home'
import { CircleAlert, CircleCheck, CircleX } from '../../ui/icons'
import { toneColor } from '../../ui/State'
import { toneOf } from './Faults'
import type { Fault } from './today'

/** Verdict is the answer to the question of the page. */
export function Verdict({ of, waiting }: { of: Fault[]; waiting: boolean }) {
  const t = useText(homeText)
  if (of.some((f) => toneOf(f) === 'bad')) return <Words icon={CircleX} tone="bad">{t.isBroken(of.length)}</Words>
  if (of.length > 0) return <Words icon={CircleAlert} tone="attention">{t.isBroken(of.length)}</Words>
  if (waiting) return <Words icon={CircleAlert} tone="attention">{t.isWaiting}</Words>
  return <Words icon={CircleCheck} tone="good">{t.isGood}</Words>
}

function Words({ icon: Icon, tone, children }: { icon: typeof CircleX; tone: 'good' | 'attention' | 'bad'; children: string }) {
  return (
    <Group component="span" gap={8} wrap="nowrap" c={toneColor(tone)} display="inline-flex">
      <Icon size={20} aria-hidden style={{ flexShrink: 0 }} />
      <Text span inherit>{children}</Text>
    </Group>
  )
}

import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CircleAlert, CircleCheck, CircleMinus, CircleX } from './icons'

/** Tone is how good a state is; each has one colour and one icon everywhere. */
export type Tone = 'good' | 'attention' | 'bad' | 'quiet'

const icons = { good: CircleCheck, attention: CircleAlert, bad: CircleX, quiet: CircleMinus }

/** toneColor is the colour of a tone, readable on the page's background in both schemes. */
export const toneColor = (tone: Tone) => `var(--tone-${tone})`

/** State shows a state: icon and word, in the tone's colour. */
export function State({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  const Icon = icons[tone]
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex" maw="100%" c={toneColor(tone)} title={title}>
      <Icon size={14} aria-hidden style={{ flexShrink: 0 }} />
      <Text span inherit fw={500} truncate>
        {children}
      </Text>
    </Group>
  )
}

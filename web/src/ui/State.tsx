import type { ReactNode } from 'react'
import { CircleAlert, CircleCheck, CircleMinus, CircleX } from './icons'

/** Tone is how good a state is; each has one colour and one icon everywhere. */
export type Tone = 'good' | 'attention' | 'bad' | 'quiet'

const icons = { good: CircleCheck, attention: CircleAlert, bad: CircleX, quiet: CircleMinus }

/** toneColor is the colour of a tone, readable on the page's background in both schemes. */
export const toneColor = (tone: Tone) => `var(--tone-${tone})`

/** State shows a state: icon and word, in the tone's colour. Lists have hundreds of it, so it is plain elements. */
export function State({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  const Icon = icons[tone]
  return (
    <span className="state" style={{ color: toneColor(tone) }} title={title}>
      <Icon size={14} aria-hidden />
      <span>{children}</span>
    </span>
  )
}

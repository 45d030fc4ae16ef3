import type { ReactNode } from 'react'

/** Tone is how good a state is; each has one colour and one icon everywhere. */
export type Tone = 'good' | 'attention' | 'bad' | 'quiet'

// The icons are a ring with a mark in it: one path each, since lists have hundreds of them.
const ring = 'M22 12a10 10 0 1 1-20 0 10 10 0 0 1 20 0Z'
const icons = {
  good: `${ring}M9 12l2 2 4-4`, attention: `${ring}M12 8v4M12 16h.01`, bad: `${ring}M15 9l-6 6M9 9l6 6`, quiet: `${ring}M8 12h8`,
}

/** toneColor is the colour of a tone, readable on the page's background in both schemes. */
export const toneColor = (tone: Tone) => `var(--tone-${tone})`

/** State shows a state: icon and word, in the tone's colour. Lists have hundreds of it, so it is plain elements. */
export function State({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  return (
    <span className="state" data-tone={tone} title={title}>
      <svg viewBox="0 0 24 24" aria-hidden><path d={icons[tone]} /></svg>
      <span>{children}</span>
    </span>
  )
}

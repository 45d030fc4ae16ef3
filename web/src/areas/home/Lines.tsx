import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CircleAlert, CircleX } from '../../ui/icons'
import { type Tone, toneColor } from '../../ui/State'
import { To, type Way } from '../../ui/To'
import './home.css'

/** Line is a figure with its words; both lead to the rows behind it. */
export interface Line {
  key: string
  /** tone of what needs somebody; none for what is only to be known. */
  tone?: Extract<Tone, 'bad' | 'attention'>
  figure: string
  words: string
  more?: ReactNode
  way: Way
}

/** Lines shows figures below each other, so that the eye compares them. */
export function Lines({ of }: { of: Line[] }) {
  const marks = of.some((l) => l.tone)
  return (
    <ul className={marks ? 'lines marked' : 'lines'}>
      {of.map((l) => (
        <li key={l.key}>
          {marks && (
            <span aria-hidden className="lines-mark" style={{ color: l.tone && toneColor(l.tone) }}>
              {l.tone === 'bad' ? <CircleX size={14} /> : l.tone === 'attention' ? <CircleAlert size={14} /> : null}
            </span>
          )}
          <div>
            <To way={l.way}>
              <span className="figure lines-figure" style={{ color: l.tone && toneColor(l.tone) }}>{l.figure}</span>{' '}
              {l.words}
            </To>
            {l.more && <Text span inherit c="dimmed"> · {l.more}</Text>}
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Quiet lists in one calm sentence what there is none of. */
export function Quiet({ lead, of }: { lead: string; of: { key: string; words: string; way: Way }[] }) {
  if (of.length === 0) return null
  return (
    <Text size="sm" c="dimmed">
      {lead}{' '}
      {of.map((q, i) => (
        <span key={q.key}>
          {i > 0 && ' · '}
          <To way={q.way}>{q.words}</To>
        </span>
      ))}
    </Text>
  )
}

import { Group } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'

/** Inner is what the link of a view gets. */
interface Inner {
  className: string
  'aria-current': 'page' | undefined
  children: ReactNode
  /** 'data-name' keeps the room of the bold name, so that the others stay where they are. */
  'data-name': string
}

/** exactly marks a link as the present one only when all of its address is. */
export const exactly = { exact: true, includeSearch: true }

/** Views leads to the parts of a page. Each has its address, so they are links and not tabs. */
export function Views<V extends string>({ label, current, of }: {
  /** label names the parts for those who cannot see them. */
  label: string
  current: V
  of: [view: V, name: string, link: (inner: Inner) => ReactElement][]
}) {
  return (
    <Group component="nav" aria-label={label} className="views" gap={4}>
      {of.map(([view, name, link]) => (
        <span key={view}>{link({ className: 'view', 'aria-current': view === current ? 'page' : undefined, children: name, 'data-name': name })}</span>
      ))}
    </Group>
  )
}

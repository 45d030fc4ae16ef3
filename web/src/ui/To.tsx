import type { ReactNode } from 'react'
import { PageLink } from './PageLink'

/** Way leads to a page of any area, with the filters that its list begins with. */
export interface Way {
  to: string
  search?: Record<string, string | boolean | undefined>
}

/**
 * To is a link to a page of another area. The page reads its own filters from the address, so that areas do not need to
 * know each other's types.
 */
export function To({ way, children, label, current }: {
  way: Way
  children: ReactNode
  label?: string
  /** current is true where the page shows what the link leads to. */
  current?: boolean
}) {
  return (
    <PageLink to={way.to} search={way.search} aria-label={label} aria-current={current ? 'true' : undefined} className="to">
      {children}
    </PageLink>
  )
}

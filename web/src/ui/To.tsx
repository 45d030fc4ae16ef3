import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Way leads to a page of any area, with the filters that its list begins with. */
export interface Way {
  to: string
  search?: Record<string, string | boolean | undefined>
}

/**
 * To is a link to a page of another area. The page reads its own filters from the address, so that areas do not need to
 * know each other's types.
 */
export function To({ way, children, label }: { way: Way; children: ReactNode; label?: string }) {
  return (
    <Anchor
      renderRoot={(props) => <Link {...props} to={way.to} search={way.search as never} aria-label={label} />}
      inherit
      c="inherit"
      fw={500}
    >
      {children}
    </Anchor>
  )
}

import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Late } from './Late'
import { ProblemNote } from './ProblemNote'

/** Read is the part of a query that Loaded needs. */
export interface Read<Data> {
  data: Data | undefined
  error: unknown
  isPending: boolean
  refetch: () => unknown
}

/**
 * Loaded shows what a read gave. Before, its place is reserved; a failure is told in its place, and the rest of the
 * page lives; data that is shown already stays when a later read fails.
 */
export function Loaded<Data>({ read, height, children }: {
  read: Read<Data>
  /** height is about that of the content, so that nothing jumps. */
  height: number
  children: (data: Data) => ReactNode
}) {
  const t = useText(uiText)
  if (read.data !== undefined) return <>{children(read.data)}</>
  if (read.error) return <ProblemNote of={read.error} retry={() => void read.refetch()} />
  return (
    <Late height={height}>
      <Skeleton height={height} radius="sm" role="status" aria-label={t.loading} />
    </Late>
  )
}

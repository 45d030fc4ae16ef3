import { useEffect } from 'react'
import { type Filters, type ListPath, type Row, useRows } from './rows'

/** useAll reads a list to its end. It is for what an organization has few of, such as plans and routers. */
export function useAll<P extends ListPath>(path: P, filters: Filters<P>, enabled = true): Row<P>[] | undefined {
  const { rows, hasMore, isPending, isFetchingMore, error, more } = useRows(path, filters, { enabled })
  useEffect(() => {
    if (hasMore && !isFetchingMore && !error) more()
  }, [hasMore, isFetchingMore, error, more])
  return isPending ? undefined : rows
}

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { type Filters, type ListPath, type Row, useRows } from './rows'

/** All is a list that is read to its end. */
export interface All<R> {
  /** rows are undefined until the first of them have been read. */
  rows: R[] | undefined
  /** whole = nothing is missing. */
  whole: boolean
  /** error is why rows are missing. */
  error: unknown
  /** retry asks for the rows that are missing. */
  retry: () => void
}

// A long list is read again at most so often: some change with every look at a router.
const pause = 30_000

/** useAll reads a list to its end, and again after changes. It is for what an organization has few of, such as plans. */
export function useAll<P extends ListPath>(path: P, filters: Filters<P>, enabled = true): All<Row<P>> {
  const { rows, hasMore, isPending, isFetchingMore, error, more, refetch, changes, queryKey } = useRows(path, filters, { enabled })
  useEffect(() => {
    if (hasMore && !isFetchingMore && !error) more()
  }, [hasMore, isFetchingMore, error, more])
  useReadAgain(changes, queryKey)
  const some = rows.length > 0
  // A list that is there to its end, and could not be read again, is old and not in parts.
  return {
    rows: isPending || (error && !some) ? undefined : rows,
    whole: !isPending && !hasMore,
    error: some && !hasMore ? null : error,
    retry: some ? more : refetch,
  }
}

/** useReadAgain has a list read again that the stream leaves alone, since it is long. */
function useReadAgain(changes: number, queryKey: readonly unknown[] | undefined) {
  const queries = useQueryClient()
  const key = useRef(queryKey)
  key.current = queryKey
  const last = useRef(0)
  useEffect(() => {
    if (changes === 0) return
    const timer = setTimeout(() => {
      last.current = Date.now()
      void queries.invalidateQueries({ queryKey: key.current, exact: true })
    }, againIn(last.current, Date.now()))
    return () => clearTimeout(timer)
  }, [changes, queries])
}

/** againIn is how long a list waits that was read again last at a time. */
export const againIn = (last: number, now: number) => Math.max(0, last + pause - now)

import { infiniteQueryOptions, replaceEqualDeep, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import type { PathsWithMethod } from 'openapi-typescript-helpers'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { readUntilRead } from './again'
import { client } from './client'
import type { paths } from './schema.gen'
import { onChange, topicsOf } from './changes'

type Lists = {
  [P in PathsWithMethod<paths, 'get'>]: paths[P] extends {
    get: { responses: { 200: { content: { 'application/json': { data: unknown[]; hasMore: boolean } } } } }
  } ? P : never
}[PathsWithMethod<paths, 'get'>]

/** ListPath is a path of the API that answers with pages of rows. */
export type ListPath = Lists

/** Row is a row of a list. */
export type Row<P extends ListPath> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': { data: (infer R)[] } } } } }
} ? R : never

/** Filters are the query parameters of a list, without those of paging. */
export type Filters<P extends ListPath> = paths[P] extends { get: { parameters: { query?: infer Q } } }
  ? Omit<NonNullable<Q>, 'limit' | 'cursor'>
  : Record<string, never>

type PathParams<P extends ListPath> = paths[P] extends { get: { parameters: { path: infer A } } } ? A : undefined

/** Rows is a list as far as it has been read. */
export interface Rows<R> {
  rows: R[]
  hasMore: boolean
  isPending: boolean
  /** isFetchingMore: who looks at it is drawn again when a page is asked for, and not only when it comes. */
  readonly isFetchingMore: boolean
  error: unknown
  more: () => void
  refetch: () => void
  /** changes is the number of changes since the list was read, when it is too long to be read again by itself. */
  changes: number
  /** queryKey finds the read in the cache; lists that were not read page by page have none. */
  queryKey?: readonly unknown[]
}

/** Answered is a page of a list. */
interface Answered<R> {
  data: R[]
  hasMore: boolean
  nextCursor: string | null
}

/** Looked is a list as the cache has it. */
interface Looked<R> {
  state: { error: object | null; data?: { pages: Answered<R>[] } }
}

// A list of up to this many pages is read again by itself when something in it has changed. A longer one says so and
// waits: somebody reads far down in it, and the reads would use up the requests that a person has in a minute.
const readAgain = 2
const pageSize = 100

/** useRows reads a list page by page, and keeps it fresh. */
export function useRows<P extends ListPath>(
  path: P,
  filters: Filters<P>,
  options: {
    path?: PathParams<P>
    enabled?: boolean
    /** every is after how many milliseconds a list is read again of which no change tells, also by what its rows say. */
    every?: number | ((rows: Row<P>[]) => number | false)
    /** live lists are read from a router, which is asked once: what fails is told at once. */
    live?: boolean
  } = {},
): Rows<Row<P>> {
  const queries = useQueryClient()
  const query = useMemo(() => {
    return Object.fromEntries(Object.entries(filters as object).filter(([, v]) => v !== undefined && v !== ''))
  }, [filters])
  const params = { query, path: options.path }
  const key = ['get', path, { params }, 'rows']
  const asked = infiniteQueryOptions({
    queryKey: key,
    // An option that is undefined would take the place of the usual one, here and below: a fault would be told after
    // seven seconds, and a list that could not be read, or is the portal's, would not be read again by itself.
    ...(options.live && { retry: false }),
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const init = { params: { ...params, query: { limit: pageSize, ...query, cursor: pageParam } }, signal }
      // The client's own types cannot be followed through a type parameter.
      const { data } = await (client.GET as (...a: unknown[]) => Promise<{ data: unknown }>)(path, init)
      return data as Answered<Row<P>>
    },
    getNextPageParam: (last: Answered<Row<P>>) => last.nextCursor ?? undefined,
  })
  // The first page is on its way while the rest of the page is drawn, and not only afterwards.
  if (options.enabled !== false && !queries.getQueryState(key)) void queries.prefetchInfiniteQuery(asked)
  const { every } = options
  const again = typeof every === 'function' ? (q: Looked<Row<P>>) => readUntilRead(q) || every(q.state.data?.pages.flatMap((p) => p.data) ?? []) : every
  const read = useInfiniteQuery({
    ...asked,
    enabled: options.enabled,
    ...(again !== undefined && { refetchInterval: again }),
    placeholderData: (before) => before,
    // Rows that did not change stay the same objects. In a long list the comparison would cost more at each page.
    structuralSharing: (before, now) => (isLong(now) ? now : replaceEqualDeep(before, now)),
    refetchOnWindowFocus: (q) => (q.state.data?.pages.length ?? 0) <= readAgain,
  })
  const pages = read.data?.pages
  const long = (pages?.length ?? 0) > readAgain
  const [changes, setChanges] = useState(0)
  useEffect(() => {
    setChanges(0)
    if (!long) return
    const about = topicsOf(path)
    return onChange((c) => {
      if (c.topic === 'reset' || about(c.topic)) setChanges((n) => n + 1)
    })
  }, [long, path])
  const { fetchNextPage, hasNextPage, isPlaceholderData } = read
  const asking = useRef(false)
  // Rows of the filter before have no next page: who is at their end already asks again when the new rows have come.
  const more = useCallback(() => {
    if (!hasNextPage || isPlaceholderData || asking.current) return
    asking.current = true
    void fetchNextPage().finally(() => (asking.current = false))
  }, [fetchNextPage, hasNextPage, isPlaceholderData])
  return {
    rows: useMemo(() => pages?.flatMap((p) => p.data) ?? [], [pages]),
    hasMore: hasNextPage,
    isPending: read.isPending,
    get isFetchingMore() {
      return read.isFetchingNextPage
    },
    error: read.error,
    more,
    refetch: () => {
      setChanges(0)
      // Only the first page is read again: the list begins anew.
      void queries.resetQueries({ queryKey: key, exact: true })
    },
    changes,
    queryKey: key,
  }
}

/** isLong reports whether the stream must leave a list alone, because useRows tells about its changes. */
export function isLong(data: unknown): boolean {
  const pages = (data as { pages?: unknown[] } | undefined)?.pages
  return Array.isArray(pages) && pages.length > readAgain
}

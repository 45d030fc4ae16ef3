// Whether what a page shows may be old although its stream lives: the server tells that from memory, and may be unable
// to read all the same.
import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { passes } from './again'

/** fallsBehind: who asks a router, or for a secret, tries again when he wants to, and says so in its own place. */
function fallsBehind(read: Query): boolean {
  const { data, error } = read.state
  return data !== undefined && error !== null && read.options.retry !== false && passes(error) && read.isActive()
}

/** outdated looks whether some read that is shown has failed since it gave what is shown. */
export function outdated(queries: QueryClient) {
  const cache = queries.getQueryCache()
  let old = false
  return {
    now: () => old,
    subscribe: (changed: () => void) => {
      const look = () => {
        const before = old
        old = cache.getAll().some(fallsBehind)
        if (old !== before) changed()
      }
      look()
      return cache.subscribe((e) => {
        // Most of what a cache tells is told while pages are drawn, and says nothing about answers.
        const answered = e.type === 'updated' && (e.action.type === 'error' || e.action.type === 'success')
        if (answered || e.type === 'observerAdded' || e.type === 'observerRemoved' || e.type === 'removed') look()
      })
    },
  }
}

/** forLong is when a state is worth words, in milliseconds: a restart of the server takes less. */
const forLong = 10_000

/** useLong says that something has been so for longer than a restart of the server takes. */
export function useLong(is: boolean): boolean {
  const [long, setLong] = useState(false)
  useEffect(() => {
    if (!is) return setLong(false)
    const timer = setTimeout(() => setLong(true), forLong)
    return () => clearTimeout(timer)
  }, [is])
  return is && long
}

/** useOutdated says that reads of this page have failed for so long that what it shows may be old. */
export function useOutdated(): boolean {
  const queries = useQueryClient()
  const look = useMemo(() => outdated(queries), [queries])
  return useLong(useSyncExternalStore(look.subscribe, look.now))
}

import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { type Change, idsOf, makesOld, tell } from './changes'
import { isLong } from './rows'
import { renewed } from './session'

export type LiveState = 'connecting' | 'live' | 'broken'

// Reads are not repeated more often than this, however busy the day is; the first change is shown at once.
const pause = 1_500

let state: LiveState = 'connecting'
const watchers = new Set<() => void>()

function become(next: LiveState) {
  if (state === next) return
  state = next
  for (const w of watchers) w()
}

/** useLive gives the state of the stream, for the mark in the header. */
export function useLive(): LiveState {
  return useSyncExternalStore(
    (changed) => {
      watchers.add(changed)
      return () => {
        watchers.delete(changed)
      }
    },
    () => state,
  )
}

const reset: Change = { topic: 'reset', id: null, type: 'reset', at: '' }

/** listen follows the server's stream, and has the reads of the page repeated that a change makes old. */
export function listen(queries: QueryClient): () => void {
  let source: EventSource | null = null
  let again: ReturnType<typeof setTimeout> | null = null
  let refresh: ReturnType<typeof setTimeout> | null = null
  let heard: Change[] = []
  let refreshedAt = 0
  let last = ''
  let failures = 0
  let ended = false

  const repeat = () => {
    refresh = null
    refreshedAt = Date.now()
    const changes = heard
    heard = []
    void queries.invalidateQueries({
      predicate: ({ queryKey: [, path, init], state: { data } }) => {
        return typeof path === 'string' && !isLong(data) && makesOld(changes, path, idsOf(init))
      },
    })
  }
  const hear = (c: Change) => {
    heard.push(c)
    refresh ??= setTimeout(repeat, Math.max(50, refreshedAt + pause - Date.now()))
  }
  const open = () => {
    again = null
    source = new EventSource(last ? `/events/stream?lastEventId=${encodeURIComponent(last)}` : '/events/stream')
    source.onopen = () => {
      // The stream itself tells what happened while it was broken; reads that failed meanwhile are repeated.
      if (failures > 0) hear(reset)
      failures = 0
      become('live')
    }
    source.onmessage = (message: MessageEvent<string>) => {
      if (message.lastEventId) last = message.lastEventId
      const change = JSON.parse(message.data) as Change
      tell(change)
      hear(change)
    }
    source.onerror = () => {
      source?.close()
      failures++
      if (failures > 1) become('broken')
      // The usual cause is a session that has expired; then come the network, and a server that starts again.
      void renewed().finally(() => {
        if (!ended) again ??= setTimeout(open, Math.min(30_000, 500 * 2 ** Math.min(failures, 6)))
      })
    }
  }
  open()
  return () => {
    ended = true
    source?.close()
    if (again) clearTimeout(again)
    if (refresh) clearTimeout(refresh)
    become('connecting')
  }
}

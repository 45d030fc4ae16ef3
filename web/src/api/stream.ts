// The server's stream of changes. A browser has six connections to a server that speaks HTTP/1.1, and each stream takes
// one for ever: of all tabs of a person one reads it, and tells the others.
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { type Change, idsOf, makesOld, tell } from './changes'
import { client } from './client'
import { isLong } from './rows'

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

/** Said is what tabs tell each other; asked is how one that is new asks for the state. */
type Said = { change: Change; position: string } | { state: LiveState } | { asked: true }

// The tab that reads says so from time to time; a browser lets the clock of a hidden one run once a minute. One that has
// been silent for long hangs, or was put to sleep with its lock: another takes its place.
const alive = 30_000
const silence = 150_000

// Tabs agree who of them reads in a secure context only, such as https or localhost. Elsewhere each one reads.
const agree = 'locks' in navigator

/** listen follows the changes that person may read, and has the reads of the page repeated that a change makes old. */
export function listen(queries: QueryClient, person: string): () => void {
  const end = new AbortController()
  const others = new BroadcastChannel(`lastmile.stream.${person}`)
  const say = (said: Said) => agree && others.postMessage(said)
  const reads = repeating(queries)
  let position = ''
  let reading = false
  let heardAt = Date.now()
  const take = (said: Said) => {
    heardAt = Date.now()
    if ('change' in said) {
      if (said.position) position = said.position
      tell(said.change)
      reads.hear(said.change)
    } else if ('state' in said) {
      // What was told while the stream was broken is told after it; reads that failed meanwhile are repeated.
      if (state === 'broken' && said.state === 'live') reads.hear(reset)
      become(said.state)
    } else if (reading) {
      say({ state })
    }
  }
  others.onmessage = (message: MessageEvent<Said>) => take(message.data)
  say({ asked: true })
  const readForAll = (signal: AbortSignal) => {
    reading = true
    return read(person, () => position, signal, (said) => {
      take(said)
      say(said)
    }).finally(() => {
      reading = false
    })
  }
  const name = `lastmile.stream.${person}`
  void alone(name, end.signal, readForAll)
  const watch = setInterval(() => {
    if (reading) say({ state })
    else if (Date.now() - heardAt > silence) {
      heardAt = Date.now()
      become('broken')
      void alone(name, end.signal, readForAll, true)
    }
  }, alive)
  return () => {
    end.abort()
    clearInterval(watch)
    others.close()
    reads.stop()
    become('connecting')
  }
}

/** repeating has the reads repeated that the heard changes make old, many changes at once. */
function repeating(queries: QueryClient) {
  let timer: ReturnType<typeof setTimeout> | null = null
  let heard: Change[] = []
  let repeatedAt = 0
  const repeat = () => {
    timer = null
    repeatedAt = Date.now()
    const changes = heard
    heard = []
    void queries.invalidateQueries({
      predicate: ({ queryKey: [, path, init], state: { data } }) => {
        return typeof path === 'string' && !isLong(data) && makesOld(changes, path, idsOf(init))
      },
    })
  }
  return {
    hear: (c: Change) => {
      heard.push(c)
      timer ??= setTimeout(repeat, Math.max(50, repeatedAt + pause - Date.now()))
    },
    stop: () => {
      if (timer) clearTimeout(timer)
    },
  }
}

/**
 * alone runs hold in one tab at a time, until its promise ends or another tab has taken its place by force; where tabs
 * cannot agree, in each of them.
 */
async function alone(name: string, signal: AbortSignal, hold: (signal: AbortSignal) => Promise<void>, force = false) {
  if (!agree) return force ? undefined : hold(signal)
  const lost = new AbortController()
  const both = AbortSignal.any([signal, lost.signal])
  // The browser refuses whoever leaves while it waits, and whose place was taken.
  await navigator.locks.request(name, force ? { steal: true } : { signal }, () => hold(both)).catch(() => lost.abort())
}

/** read keeps the stream open until the signal, from the position on that the page has. */
function read(person: string, from: () => string, signal: AbortSignal, say: (said: Said) => void): Promise<void> {
  let source: EventSource | null = null
  let again: ReturnType<typeof setTimeout> | null = null
  let failures = 0
  // Pages that were told something by another tab until now, or by a stream that was cut, have read already.
  let before = state !== 'connecting'
  const open = () => {
    again = null
    const asked = new URLSearchParams({ expectedUser: person })
    if (from()) asked.set('lastEventId', from())
    source = new EventSource(`/events/stream?${asked}`)
    source.onopen = () => {
      failures = 0
      // Nothing was told yet, so nobody knows from where to go on: what happened meanwhile is read.
      if (before && !asked.has('lastEventId')) say({ change: reset, position: '' })
      before = true
      say({ state: 'live' })
    }
    source.onmessage = (message: MessageEvent<string>) => {
      say({ change: JSON.parse(message.data) as Change, position: message.lastEventId })
    }
    source.onerror = () => {
      source?.close()
      failures++
      if (failures > 1) say({ state: 'broken' })
      // A browser does not say why. A session that has expired is renewed by this read; other reasons are the network, a
      // server that starts again, and somebody else who has signed in.
      const next = () => {
        if (!signal.aborted) again ??= setTimeout(open, Math.min(30_000, 500 * 2 ** Math.min(failures, 6)))
      }
      void client.GET('/auth/me', { signal }).then(next, next)
    }
  }
  open()
  return new Promise((done) => {
    signal.addEventListener('abort', () => {
      source?.close()
      if (again) clearTimeout(again)
      done()
    })
  })
}

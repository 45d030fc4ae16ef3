// The server's stream of changes. A browser has six connections to a server that speaks HTTP/1.1, and each stream takes
// one for ever: of all tabs of a person one reads it, and tells the others.
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { readAgain } from './again'
import { type Change, idsOf, makesOld, tell } from './changes'
import { client } from './client'
import { asProblem, type Problem } from './problem'
import { isLong } from './rows'

/** LiveState: suspended = the server ends the stream, since nobody of this organization may read anything for now. */
type LiveState = 'connecting' | 'live' | 'broken' | 'suspended'

/** Serves is what the server can do: reads = nothing can be saved; nothing = nothing can be read either. */
type Serves = 'all' | 'reads' | 'nothing'

// Reads are not repeated more often than this, however busy the day is; the first change is shown at once.
const pause = 1_500

let state: LiveState = 'connecting'
let serves: Serves = 'all'
const watchers = new Set<() => void>()

function become(next: LiveState, can: Serves = serves) {
  if (state === next && serves === can) return
  state = next
  serves = can
  for (const w of watchers) w()
}

function watch(changed: () => void) {
  watchers.add(changed)
  return () => {
    watchers.delete(changed)
  }
}

/** useLive gives the state of the stream, for the mark in the header. */
export const useLive = (): LiveState => useSyncExternalStore(watch, () => state)

/** useServed gives what the server can do, as far as the stream tells. */
export const useServed = (): Serves => useSyncExternalStore(watch, () => serves)

const reset: Change = { topic: 'reset', id: null, type: 'reset', at: '' }
// What the server can do is told by the reports and by the page of the system.
const served: Change = { topic: 'processes', id: null, type: 'served', at: '' }

/** Said is what tabs tell each other; asked is how one that is new, or is looked at again, asks for the state. */
type Said = { change: Change; position: string } | { state: LiveState; serves: Serves } | { asked: true }

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
  const waits = { end: () => undefined as void }
  const take = (said: Said) => {
    heardAt = Date.now()
    if ('change' in said) {
      if (said.position) position = said.position
      tell(said.change)
      reads.hear(said.change)
    } else if ('state' in said) {
      // What was told while the stream was broken is told after it; reads that failed meanwhile are repeated.
      const wasAway = state === 'broken' || state === 'suspended' || serves === 'nothing'
      if (wasAway && said.state === 'live' && said.serves !== 'nothing') reads.hear(reset)
      else if (said.serves !== serves) reads.hear(served)
      become(said.state, said.serves)
    } else if (reading) {
      say({ state, serves })
      waits.end()
    }
  }
  others.onmessage = (message: MessageEvent<Said>) => take(message.data)
  say({ asked: true })
  const readForAll = (signal: AbortSignal) => {
    reading = true
    const tell = (said: Said) => {
      take(said)
      say(said)
    }
    return read(person, () => position, signal, tell, waits).finally(() => {
      reading = false
    })
  }
  const name = `lastmile.stream.${person}`
  void alone(name, end.signal, readForAll)
  const watch = setInterval(() => {
    if (reading) say({ state, serves })
    else if (Date.now() - heardAt > silence) {
      heardAt = Date.now()
      become('broken')
      void alone(name, end.signal, readForAll, true)
    }
  }, alive)
  // Who comes back to the page, or to the network, does not wait for the next try.
  const back = () => (reading ? waits.end() : state === 'live' || say({ asked: true }))
  for (const sign of ['online', 'focus']) window.addEventListener(sign, back, { signal: end.signal })
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

// How long a stream that was cut may take to be back until pages say so. Its first try comes after a second; whoever has
// to type a password first is not back.
const cutFor = 3_000

// The server gives a sign of life every 10 seconds. A line that is cut without a word, as by a router or a phone that
// sleeps, looks like a quiet day otherwise: after so long without one it is opened anew. A browser may try other lines
// that it has, which are as dead: each is given up sooner.
const lifeless = 25_000
const opensWithin = 12_000
const looks = 5_000

// How long the question why a stream was cut may keep the next try waiting.
const answersWithin = 5_000

// Tries go further and further apart. That somebody ended a suspension is seen as soon as reads see it.
const longestWait = (now: LiveState) => (now === 'suspended' ? readAgain : 30_000)

/**
 * read keeps the stream open until the signal, from the position on that the page has. What it gives to `waits` ends the
 * wait for the next try.
 */
function read(
  person: string, from: () => string, signal: AbortSignal, say: (said: Said) => void, waits: { end: () => void },
): Promise<void> {
  let source: EventSource | null = null
  let again: ReturnType<typeof setTimeout> | null = null
  let cut: ReturnType<typeof setTimeout> | null = null
  let failures = 0
  let heardAt = Date.now()
  let isOpen = false
  // Pages that were told something by another tab until now, or by a stream that was cut, have read already.
  let before = state !== 'connecting'
  const broken = () => state !== 'suspended' && say({ state: 'broken', serves })
  const open = () => {
    again = null
    isOpen = false
    heardAt = Date.now()
    const asked = new URLSearchParams({ expectedUser: person })
    if (from()) asked.set('lastEventId', from())
    source = new EventSource(`/events/stream?${asked}`)
    source.onopen = () => {
      isOpen = true
      heardAt = Date.now()
      failures = 0
      if (cut) clearTimeout(cut)
      cut = null
      // Nothing was told yet, so nobody knows from where to go on: what happened meanwhile is read.
      if (before && !asked.has('lastEventId')) say({ change: reset, position: '' })
      before = true
      say({ state: 'live', serves })
    }
    source.addEventListener('alive', (message: MessageEvent<string>) => {
      heardAt = Date.now()
      const now = (JSON.parse(message.data) as { serves: Serves }).serves
      if (now !== serves) say({ state: 'live', serves: now })
    })
    source.onmessage = (message: MessageEvent<string>) => {
      heardAt = Date.now()
      say({ change: JSON.parse(message.data) as Change, position: message.lastEventId })
    }
    source.onerror = lost
  }
  let asking = false
  const next = () => {
    if (!source && !signal.aborted) again ??= setTimeout(open, Math.min(longestWait(state), 500 * 2 ** Math.min(failures, 6)))
  }
  const answered = (problem: Problem | null, waited: number) => {
    asking = false
    if (signal.aborted) return
    if (!problem && waited > answersWithin && again) { // somebody has typed the password, and waits
      clearTimeout(again)
      again = null
      failures = 1
    }
    if (problem?.code === 'organization_suspended') say({ state: 'suspended', serves })
    else if (state === 'suspended') {
      say({ state: 'broken', serves })
      failures = 1 // it was open to nobody, and may be again
    }
    next()
  }
  const lost = () => {
    source?.close()
    source = null
    failures++
    if (failures > 1) broken()
    else cut ??= setTimeout(broken, cutFor)
    // A dead line answers nothing, and the next try takes another one.
    setTimeout(next, answersWithin)
    // A browser does not say why. A session that has expired is renewed by this read; other reasons are the network, a
    // server that starts again, a suspension, and somebody else who has signed in.
    if (asking) return
    asking = true
    const asked = Date.now()
    const waited = () => Date.now() - asked
    void client.GET('/auth/me', { signal }).then(() => answered(null, waited()), (cause) => answered(asProblem(cause), waited()))
  }
  const look = setInterval(() => {
    if (source && Date.now() - heardAt > (isOpen ? lifeless : opensWithin)) lost()
  }, looks)
  waits.end = () => {
    if (!again || signal.aborted) return
    clearTimeout(again)
    failures = Math.min(failures, 1) // what was lost for long may need some tries more until it is all there
    open()
  }
  open()
  return new Promise((done) => {
    signal.addEventListener('abort', () => {
      source?.close()
      clearInterval(look)
      if (again) clearTimeout(again)
      if (cut) clearTimeout(cut)
      done()
    })
  })
}

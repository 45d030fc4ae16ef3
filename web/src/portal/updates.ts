import { useSyncExternalStore } from 'react'

// How often a page that stays open asks whether there is a new version, in milliseconds.
const asks = 30 * 60_000

let waits = false
const listeners = new Set<() => void>()

/** newVersionWaits reports whether a new version can be opened, by leave. */
export const newVersionWaits = () => waits

/** useNewVersion follows newVersionWaits. */
export function useNewVersion(): boolean {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    newVersionWaits,
  )
}

/** waitsNow says so to the pages. */
function waitsNow() {
  waits = true
  for (const changed of listeners) changed()
}

// What the browser has for the portal, from when the page has asked.
let kept: ServiceWorkerRegistration | undefined

/**
 * keepShell has the worker keep the portal's own files on this device. When the program serves other ones, another worker
 * keeps those and waits, and this page says so: nothing that somebody is typing is lost, and the files of the page stay
 * until a page is left for the new version.
 */
export function keepShell() {
  if (!('serviceWorker' in navigator)) return
  const workers = navigator.serviceWorker
  const first = workers.controller === null
  let changes = 0
  workers.addEventListener('controllerchange', () => {
    changes++
    if (first && changes === 1) return // the first one has taken over the page as it is
    waitsNow() // another page has opened the new version
  })
  window.addEventListener('load', () => {
    void workers.register('/portal/worker.js', { scope: '/portal/', updateViaCache: 'none' }).then((registered) => {
      kept = registered
      const look = () => void registered.update().catch(() => undefined) // without a network it is asked later
      setInterval(look, asks)
      window.addEventListener('focus', look)
      if (registered.waiting && workers.controller) waitsNow()
      follow(registered.installing)
      registered.addEventListener('updatefound', () => follow(registered.installing))
    }, () => undefined) // a browser that keeps nothing reads the files each time
  })
}

/** follow hears when a worker has kept its files. A page without a worker is of the newest version, as the network has it. */
function follow(worker: ServiceWorker | null) {
  worker?.addEventListener('statechange', () => {
    if (worker.state === 'installed' && navigator.serviceWorker.controller) waitsNow()
  })
}

// How long a page waits for a worker to take over before it is left all the same, in milliseconds.
const takesOver = 3000

// What is opened when it has; whatever was asked for last.
let opens: (() => void) | null = null

/**
 * leave opens another page, with the new version's worker where one waits. The page is left only when that one has taken
 * over: a page that is asked for while one worker takes the other's place may never be answered.
 */
export function leave(open: () => void) {
  if (opens) {
    opens = open
    return
  }
  const next = kept?.waiting ?? kept?.active
  if (!next || next.state === 'activated') return open()
  opens = open
  const over = () => {
    clearTimeout(overdue)
    next.removeEventListener('statechange', heard)
    window.removeEventListener('popstate', back)
    const last = opens
    opens = null
    last?.()
  }
  const heard = () => {
    if (next.state === 'activated' || next.state === 'redundant') over()
  }
  // Whoever goes back meanwhile is there already.
  const back = () => {
    opens = () => undefined
  }
  const overdue = setTimeout(over, takesOver)
  next.addEventListener('statechange', heard)
  window.addEventListener('popstate', back)
  next.postMessage('take over')
}

/** reload opens the page anew, of the new version where one waits. */
export const reload = () => leave(() => location.reload())

/** openPortal opens the portal anew: nothing of the person stays. */
export const openPortal = () => leave(() => location.assign('/portal/'))

import { useSyncExternalStore } from 'react'

// How often a page that stays open asks whether there is a new version, in milliseconds.
const asks = 30 * 60_000

let waits = false
const listeners = new Set<() => void>()

/** newVersionWaits reports whether the next page that is opened is of a new version. */
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

let kept: ServiceWorkerRegistration | undefined

/**
 * keepShell has the worker keep the portal's own files on this device. When the program serves other ones, another worker
 * keeps those and waits, and this page says so: nothing that somebody is typing is lost, and the files of the page stay.
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
      if (registered.waiting && registered.active) waitsNow()
      follow(registered.installing)
      registered.addEventListener('updatefound', () => follow(registered.installing))
    }, () => undefined) // a browser that keeps nothing reads the files each time
  })
}

/** follow hears when a worker has kept its files; the first one of all has nothing to wait for. */
function follow(worker: ServiceWorker | null) {
  worker?.addEventListener('statechange', () => {
    if (worker.state === 'installed' && kept?.active) waitsNow()
  })
}

// So long a page is not left because a worker does not take over, in milliseconds.
const takesOver = 3000

// What is opened when it has; whatever was asked for last.
let opens: (() => void) | null = null

/**
 * leave opens another page, with the new version's worker where one waits. The page is left only when that one has taken
 * over: a page that is asked for while one worker takes the other's place may never be answered.
 */
export function leave(open: () => void) {
  const next = kept?.waiting
  if (opens) {
    opens = open
    return
  }
  if (!next) return open()
  opens = open
  const over = () => {
    clearTimeout(overdue)
    next.removeEventListener('statechange', heard)
    const last = opens
    opens = null
    last?.()
  }
  const heard = () => {
    if (next.state === 'activated' || next.state === 'redundant') over()
  }
  const overdue = setTimeout(over, takesOver)
  next.addEventListener('statechange', heard)
  next.postMessage('take over')
}

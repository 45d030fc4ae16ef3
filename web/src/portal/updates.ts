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

/**
 * keepShell has the worker keep the portal's own files on this device. When the program serves other ones the worker
 * takes those, and this page says so: nothing that somebody is typing is lost.
 */
export function keepShell() {
  if (!('serviceWorker' in navigator)) return
  const workers = navigator.serviceWorker
  const first = workers.controller === null
  let changes = 0
  workers.addEventListener('controllerchange', () => {
    changes++
    if (first && changes === 1) return // the first one has taken over the page as it is
    waits = true
    for (const changed of listeners) changed()
  })
  window.addEventListener('load', () => {
    void workers.register('/portal/worker.js', { scope: '/portal/', updateViaCache: 'none' }).then((registered) => {
      const look = () => void registered.update().catch(() => undefined) // without a network it is asked later
      setInterval(look, asks)
      window.addEventListener('focus', look)
    }, () => undefined) // a browser that keeps nothing reads the files each time
  })
}

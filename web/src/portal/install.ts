import { useSyncExternalStore } from 'react'

/** Offer is how a browser says that the page can be installed. */
interface Offer extends Event {
  prompt: () => Promise<unknown>
}

let offer: Offer | null = null
const listeners = new Set<() => void>()

function set(next: Offer | null) {
  offer = next
  for (const changed of listeners) changed()
}

/** keepOffer keeps the browser's own offer for the page where people look for it. */
export function keepOffer() {
  window.addEventListener('beforeinstallprompt', (e) => {
    e.preventDefault()
    set(e as Offer)
  })
  window.addEventListener('appinstalled', () => set(null))
}

/** useInstall gives the function that installs the portal; null where the browser does not offer it, or has done it. */
export function useInstall(): (() => void) | null {
  const now = useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    () => offer,
  )
  return now && (() => {
    set(null) // an offer works once
    void now.prompt()
  })
}

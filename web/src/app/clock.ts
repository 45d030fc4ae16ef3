import { useSyncExternalStore } from 'react'

// A second-hand laptop's clock may be hours wrong. Relative times follow the server's.
let ahead = 0

/** setServerTime notes the server's time, as an answer that came just now gave it. */
export function setServerTime(now: string) {
  ahead = new Date(now).getTime() - Date.now()
}

/** serverNow is the server's time in milliseconds. */
export const serverNow = () => Date.now() + ahead

const step = 15_000
const listeners = new Set<() => void>()
let shown = serverNow()
let timer: ReturnType<typeof setInterval> | null = null

function subscribe(changed: () => void) {
  if (listeners.size === 0) shown = serverNow()
  listeners.add(changed)
  timer ??= setInterval(() => {
    shown = serverNow()
    for (const l of listeners) l()
  }, step)
  return () => {
    listeners.delete(changed)
    if (listeners.size === 0 && timer) {
      clearInterval(timer)
      timer = null
    }
  }
}

/** useNow gives the server's time; a page that shows it is drawn again every 15 seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => shown)
}

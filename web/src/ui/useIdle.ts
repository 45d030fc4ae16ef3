import { useEffect, useState } from 'react'

// A busy page is never idle; what waits for it comes after this time.
const patience = 2_000

/** useIdle is true as soon as the browser has drawn the page and has nothing to do: what nobody waits for comes then. */
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false)
  useEffect(() => {
    // Not every browser tells when it is idle.
    if (!('requestIdleCallback' in window)) {
      const timer = setTimeout(() => setIdle(true), patience)
      return () => clearTimeout(timer)
    }
    const waiting = requestIdleCallback(() => setIdle(true), { timeout: patience })
    return () => cancelIdleCallback(waiting)
  }, [])
  return idle
}

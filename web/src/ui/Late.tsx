import { type ReactNode, useEffect, useState } from 'react'

/** Late shows its content after 200 ms: what comes sooner should not flicker. Its place is reserved at once. */
export function Late({ children, height }: { children: ReactNode; height?: number | string }) {
  const [due, setDue] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return <div style={{ minHeight: height }}>{due && children}</div>
}

import { type RefObject, useLayoutEffect, useState } from 'react'
import { flushSync } from 'react-dom'

/** rowHeight is that of every row of a list, in pixels, as in ui.css. */
export const rowHeight = 32

/** Drawn are the rows of a list that are drawn, `to` not among them. */
interface Drawn {
  from: number
  to: number
}

// Rows that are drawn beyond what is seen: a browser may show a list further down before its scripts hear of it.
const beyond = 8
// The list is drawn anew when another so many rows have passed.
const step = 4

/** drawnOf gives the rows between two heights, counted from the first row's top, with some before and after. */
export function drawnOf(top: number, bottom: number, count: number): Drawn {
  const seen = Math.ceil((Math.max(bottom - top, 0) + 1) / rowHeight)
  const first = Math.floor(top / rowHeight / step) * step
  const from = Math.max(0, Math.min(first, count - seen) - beyond)
  return { from, to: Math.max(from, Math.min(count, first + seen + step + beyond)) }
}

// What is drawn before the screen is known.
const atFirst: Drawn = { from: 0, to: 32 }

/** usePrinting tells that a page goes to paper, which has all rows and no screen. */
function usePrinting(): boolean {
  const [on, setOn] = useState(false)
  useLayoutEffect(() => {
    const paper = matchMedia('print')
    // The rows have to be there before the browser lays the paper out.
    const look = () => flushSync(() => setOn(paper.matches))
    paper.addEventListener('change', look)
    return () => paper.removeEventListener('change', look)
  }, [])
  return on
}

/** useDrawn follows what of a list is seen: of its frame, and of the window, whichever of them scrolls. */
export function useDrawn(body: RefObject<HTMLElement | null>, count: number, whole: boolean | undefined): Drawn {
  const [drawn, setDrawn] = useState(atFirst)
  const printing = usePrinting()
  useLayoutEffect(() => {
    if (whole) return
    const look = () => {
      const at = body.current?.getBoundingClientRect()
      const frame = body.current?.closest('.rows-frame')?.getBoundingClientRect()
      if (!at || !frame) return
      const now = drawnOf(Math.max(frame.top, 0) - at.top, Math.min(frame.bottom, innerHeight) - at.top, count)
      setDrawn((before) => (before.from === now.from && before.to === now.to ? before : now))
    }
    look()
    // The rows have to be there in the frame that shows them.
    const scrolled = () => flushSync(look)
    const sizes = new ResizeObserver(look)
    const frame = body.current?.closest('.rows-frame')
    if (frame) sizes.observe(frame)
    document.addEventListener('scroll', scrolled, { capture: true, passive: true })
    addEventListener('resize', look)
    return () => {
      sizes.disconnect()
      document.removeEventListener('scroll', scrolled, { capture: true })
      removeEventListener('resize', look)
    }
  }, [body, count, whole])
  if (whole || printing) return { from: 0, to: count }
  const from = Math.min(drawn.from, Math.max(0, count - 1))
  return { from, to: Math.min(drawn.to, count) }
}

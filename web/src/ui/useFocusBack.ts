import { useEffect, useState } from 'react'
import { focusContent, isLost } from './useFocusHere'

// Where the last dialog was opened from; one that follows it gives the focus back to the same place.
let last: HTMLElement | null = null

/** opener is what a dialog was opened from; of an item of a menu, which is gone by then, the button of the menu. */
function opener(): HTMLElement | null {
  const at = document.activeElement
  if (!(at instanceof HTMLElement)) return null
  // The button of the dialog before, which waits for its answer, is disabled and has lost the focus.
  if (document.querySelector('[role="dialog"]') && last?.isConnected) return last
  const button = at.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  return button ? document.getElementById(button) : at
}

/**
 * leavesMenu gives the focus to the button of a menu that closes. The library would do so a moment later, and take it
 * away from the dialog that the menu has opened.
 */
export function leavesMenu() {
  const button = opener()
  setTimeout(() => {
    if (isLost() || document.activeElement?.closest('[role="menu"]')) button?.focus({ preventScroll: true })
  })
}

/** belowThis is what has the focus in a dialog that may stay open below the next one, as that of an ended session. */
function belowThis(): HTMLElement | null {
  const at = document.activeElement
  return at instanceof HTMLElement && at.closest('[role="dialog"]') ? at : null
}

/**
 * useFocusBack gives the focus back to where a dialog was opened from when the dialog goes. What it gives is called by a
 * dialog that leads to another page, which has the focus then.
 */
export function useFocusBack(): () => void {
  const [from] = useState(() => ({ below: belowThis(), back: (last = opener()) }))
  useEffect(() => () => {
    setTimeout(() => {
      if (!isLost()) return
      const place = from.below?.isConnected ? from.below : from.back
      place?.focus()
      // What opened it may have gone, as a repair takes its own button away.
      if (place) focusContent()
    })
  }, [from])
  return () => {
    from.below = from.back = null
  }
}

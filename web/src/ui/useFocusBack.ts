import { useEffect, useState } from 'react'

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

/** useFocusBack gives the focus back to where a dialog was opened from when the dialog goes. */
export function useFocusBack() {
  const [from] = useState(() => (last = opener()))
  useEffect(() => () => {
    setTimeout(() => {
      if (document.activeElement === null || document.activeElement === document.body) from?.focus()
    })
  }, [from])
}

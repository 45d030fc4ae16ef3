import { useEffect } from 'react'

// The address of the page that was drawn last; none is before the first one, which leaves the focus to the browser.
let before: string | null = null

/** isLost: what had the focus is no longer there. */
export const isLost = () => document.activeElement === null || document.activeElement === document.body

/** focusContent moves a focus that was lost to the content of the page. */
export function focusContent() {
  if (isLost()) document.getElementById('content')?.focus({ preventScroll: true })
}

/** focusFirst lets the first page have the focus, when a form stood in its place before. */
export function focusFirst() {
  before = ''
}

/**
 * useFocusHere moves the focus to the content of a page that was opened when what had it went with the page before:
 * readers hear of the new page, and the next Tab is its first control.
 */
export function useFocusHere() {
  useEffect(() => {
    const opened = before !== null && before !== location.pathname
    before = location.pathname
    if (opened) focusContent()
  }, [])
}

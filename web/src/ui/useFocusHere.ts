import { useEffect } from 'react'

// The address of the page that was drawn last; none is before the first one, which leaves the focus to the browser.
let before: string | null = null

/**
 * useFocusHere moves the focus to the content of a page that was opened when what had it went with the page before:
 * readers hear of the new page, and the next Tab is its first control.
 */
export function useFocusHere() {
  useEffect(() => {
    const opened = before !== null && before !== location.pathname
    before = location.pathname
    const lost = document.activeElement === null || document.activeElement === document.body
    if (opened && lost) document.getElementById('content')?.focus({ preventScroll: true })
  }, [])
}

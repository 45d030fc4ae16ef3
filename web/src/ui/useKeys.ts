import { type HotkeyItem, useHotkeys } from '@mantine/hooks'

/** above finds what lies above the page, and has all keys as long as it is there. */
export const above = '[role="dialog"], [role="menu"], [role="listbox"]'

/** useKeys gives a page keys of its own. They do nothing while somebody is busy in a dialog above it, or opens one. */
export function useKeys(opening: boolean, keys: [key: string, act: () => void][]) {
  useHotkeys(keys.map(([key, act]): HotkeyItem => [key, (e) => {
    if (opening || document.querySelector(above)) return
    e.preventDefault() // the key is not typed into a field of what it opens
    act()
  }, { preventDefault: false }]))
}

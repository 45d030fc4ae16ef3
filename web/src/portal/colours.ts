/** Colours are what somebody chooses; auto = as the device has them. The dashboard keeps the choice in the same place. */
export type Colours = 'auto' | 'light' | 'dark'

const kept = 'mantine-color-scheme-value'
const dark = matchMedia('(prefers-color-scheme: dark)')

/** coloursNow is what was chosen on this device. */
export function coloursNow(): Colours {
  const chosen = localStorage.getItem(kept)
  return chosen === 'light' || chosen === 'dark' ? chosen : 'auto'
}

function show() {
  const chosen = coloursNow()
  const shown = chosen === 'auto' ? (dark.matches ? 'dark' : 'light') : chosen
  document.documentElement.dataset.mantineColorScheme = shown
}

/** choose keeps and shows a choice. */
export function choose(colours: Colours) {
  localStorage.setItem(kept, colours)
  show()
}

/** showColours shows the choice, also when the device changes from day to night. */
export function showColours() {
  show()
  dark.addEventListener('change', show)
}

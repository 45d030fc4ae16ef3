// Letters that are written from right to left, and signs that turn the direction of what follows them.
const turning = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\ud802\ud803\ud83a\ud83b]/

const begin = '\u2068'
const end = '\u2069'

/**
 * isolated keeps a text that people have written, such as a name, from turning round what stands beside it. Text that
 * cannot do so stays as it is.
 */
export function isolated(text: string): string {
  return turning.test(text) ? begin + closed(text) + end : text
}

// A text that ended the isolation by itself, or began one that it does not end, would reach beyond it.
function closed(text: string): string {
  let open = 0
  const within = [...text].filter((sign) => {
    if (sign >= '\u2066' && sign <= begin) open++
    if (sign !== end) return true
    if (open === 0) return false
    open--
    return true
  })
  return within.join('') + end.repeat(open)
}

// Signs that nobody sees, among them those that turn a direction; not those that join letters and pictures.
const unseen = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * visible writes a text from outside with every sign that nobody sees as its number, such as <U+202E>: whoever decides by
 * what was typed reads all that was typed, in its order.
 */
export function visible(text: string): string {
  return text.replace(unseen, (sign) => `<U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`)
}

const plain = (of: unknown): of is Record<string, unknown> => {
  return typeof of === 'object' && of !== null && Object.getPrototypeOf(of) === Object.prototype
}

/** apart isolates the facts that a sentence is filled with. */
function apart(fact: unknown): unknown {
  if (typeof fact === 'string') return isolated(fact)
  if (Array.isArray(fact)) return fact.map((each) => (typeof each === 'string' ? isolated(each) : each))
  if (!plain(fact)) return fact
  const turned = Object.entries(fact).filter(([, v]) => typeof v === 'string' && turning.test(v))
  return turned.length === 0 ? fact : { ...fact, ...Object.fromEntries(turned.map(([k, v]) => [k, apart(v)])) }
}

/** filling makes all sentences of some texts isolate what they are filled with. */
export function filling<Texts>(texts: Texts): Texts {
  if (typeof texts === 'function') {
    const says = texts as unknown as (...facts: unknown[]) => unknown
    return ((...facts: unknown[]) => says(...facts.map(apart))) as Texts
  }
  if (!plain(texts)) return texts
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, filling(text)])) as Texts
}

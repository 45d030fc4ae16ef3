/** commaOrPoint lets a number that is no amount have its decimals behind either sign. In an amount a comma stands between thousands. */
export const commaOrPoint = ['.', ',']

/** Marks are how a number may be written in a field. */
export interface Marks {
  /** comma = decimals may stand behind a comma, too. */
  comma?: boolean
  /** decimals is how many there may be; undefined = any number. */
  decimals?: number
  /** whole = there are none, and three digits behind a point look like thousands. */
  whole?: boolean
  /** unit may stand beside the number, as the field itself and whatever it is copied from write it. */
  unit?: string
}

/**
 * Figure is what a text of a field means: a number, '' for an empty field, or none. `meant` has the numbers that it may
 * stand for, as they are to be typed. Nothing is guessed: 1.500,50 is another amount here and in Germany.
 */
export type Figure = { figure: number | '' } | { figure: null; meant: string[] }

const plain = /^-?(\d+\.?\d*|\.\d+)$/
const grouped = /^-?[1-9]\d{0,2}((,\d{3})+|( \d{3})+)(\.\d*)?$/
const commaGroup = /^-?[1-9]\d{0,2},\d{3}$/
const pointGroup = /^-?[1-9]\d{0,2}\.\d{3}$/
const exponent = /^-?\d{1,15}(\.\d{1,15})?e\+?\d{1,2}$/i

/** readFigure reads what was typed or pasted. */
export function readFigure(typed: number | string, marks: Marks = {}): Figure {
  const text = written(String(typed), marks.unit)
  if (text === '') return { figure: '' }
  if (marks.comma && commaGroup.test(text)) return { figure: null, meant: [text.replace(',', ''), text.replace(',', '.')] }
  // Where three decimals cannot be, three digits behind a point are thousands to whoever learned to write so.
  if (pointGroup.test(text) && (marks.whole || (marks.decimals ?? 3) < 3)) {
    return { figure: null, meant: [text.replace('.', ''), ...(marks.whole ? [] : [text.replace(/\.?0+$/, '')])] }
  }
  if (plain.test(text)) return { figure: Number(text) }
  if (grouped.test(text)) return { figure: Number(text.replace(/[, ]/g, '')) }
  if (marks.comma && plain.test(text.replace(',', '.'))) return { figure: Number(text.replace(',', '.')) }
  return { figure: null, meant: meantBy(text) }
}

/** decimalsOf is how many digits stand behind the point of a number. */
export function decimalsOf(typed: number | string, marks: Marks = {}): number {
  const text = written(String(typed), marks.unit)
  return (marks.comma && !grouped.test(text) ? text.replace(',', '.') : text).split('.')[1]?.length ?? 0
}

/** grouping writes a number as a field shows it: with at most so many decimals, or with just as many as were typed. */
export function grouping(n: number, { decimals, typed, thousands }: { decimals?: number; typed?: number; thousands?: boolean }): string {
  const text = typed ? n.toFixed(typed) : String(decimals === undefined ? n : Number(n.toFixed(decimals)))
  const [whole = '', rest] = text.split('.')
  const groups = thousands ? whole.replace(/\B(?=(\d{3})+$)/g, ',') : whole
  return rest === undefined ? groups : `${groups}.${rest}`
}

// The first of ten digits each: Arabic, Persian, Devanagari, Bengali.
const zeros = [0x660, 0x6f0, 0x966, 0x9e6]

/** written is a text in the digits and marks of this file, without its unit. */
function written(typed: string, unit = ''): string {
  const text = typed
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0)) // of full width
    .replace(/[\u200b-\u200f\u061c\u202a-\u202e\u2066-\u2069]/g, '') // a copied amount brings them
    .replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef]/g, (digit) => {
      const code = digit.charCodeAt(0)
      return String(code - (zeros.findLast((zero) => zero <= code) ?? code))
    })
    .replace(/\u066b/g, '.')
    .replace(/\u066c/g, ',')
    .replace(/\u2212/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
  const name = unit.trim().toLowerCase()
  if (name && text.toLowerCase().endsWith(name)) return text.slice(0, -name.length).trim()
  return name && text.toLowerCase().startsWith(name) ? text.slice(name.length).trim() : text
}

/**
 * meantBy gives the number that a text with marks in other places stands for. Whether the last two digits of 1,500,50 are
 * cents is known to whoever typed them.
 */
function meantBy(text: string): string[] {
  if (exponent.test(text)) {
    const n = Number(text)
    return Number.isSafeInteger(n) ? [String(n)] : []
  }
  const bare = text.replace(/[ '’]/g, '')
  const last = Math.max(bare.lastIndexOf(','), bare.lastIndexOf('.'))
  const mark = bare[last] ?? ''
  const other = mark === ',' ? '.' : ','
  // A mark that stands there once, behind all others, is the one of the decimals.
  const once = mark !== '' && bare.indexOf(mark) === last
  const groups = text.split(/[ ,.'’]/)
  if (!once && groups.length > 2 && groups.at(-1)?.length !== 3) return []
  const whole = (once ? bare.slice(0, last) : bare).replace(/[.,]/g, '')
  const meant = once && last < bare.length - 1 ? `${whole}.${bare.slice(last + 1)}` : whole
  return /^-?\d+(\.\d+)?$/.test(meant) && (once || !bare.includes(other) || mark === '') ? [meant] : []
}

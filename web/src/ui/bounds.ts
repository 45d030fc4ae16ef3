import { decimalsOf, type Marks, readFigure } from './decimals'

/** Bounds are what a number of a field has to be. */
export interface Bounds {
  min?: number
  max?: number
  /** whole refuses decimals. Without their point they would be another number. */
  whole?: boolean
}

/** Fault is what is wrong with a number that was typed; required = it was taken away, and there must be one. */
export type Fault = 'required' | 'number' | 'marks' | 'decimals' | 'whole' | 'min' | 'max'

/** largest is what a field without another bound takes: beyond it a number is no longer exact. */
export const largest = 999_999_999_999_999

/** faultOf judges what was typed, and changes nothing of it. An empty field is for its form to judge. */
export function faultOf(typed: number | string, { min, max = largest, whole }: Bounds, marks: Marks = {}): Fault | null {
  const read = readFigure(typed, { ...marks, whole })
  if (read.figure === '') return null
  if (read.figure === null) {
    if (whole && read.meant.length > 0 && !read.meant.some((m) => Number.isInteger(Number(m)))) return 'whole'
    return read.meant.length > 0 ? 'marks' : 'number'
  }
  const n = read.figure
  if (whole && !Number.isInteger(n)) return 'whole'
  if (marks.decimals !== undefined && decimalsOf(typed, marks) > marks.decimals) return 'decimals'
  if (min !== undefined && n < min) return 'min'
  if (n > max) return 'max'
  return n < -largest ? 'min' : null
}

/** figureOf is the number that was typed; what is none counts as empty. */
export function figureOf(typed: number | string, marks: Marks = {}): number | '' {
  return readFigure(typed, marks).figure ?? ''
}

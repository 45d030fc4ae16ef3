/** Bounds are what a number of a field has to be. */
export interface Bounds {
  min?: number
  max?: number
  /** whole refuses decimals. Without their point they would be another number. */
  whole?: boolean
}

/** Fault is what is wrong with a number that was typed. */
export type Fault = 'number' | 'whole' | 'min' | 'max'

/** faultOf judges what was typed, and changes nothing of it. An empty field is for its form to judge. */
export function faultOf(typed: number | string, { min, max, whole }: Bounds): Fault | null {
  if (typed === '') return null
  const n = Number(typed)
  if (Number.isNaN(n)) return 'number'
  if (whole && !Number.isInteger(n)) return 'whole'
  if (min !== undefined && n < min) return 'min'
  if (max !== undefined && n > max) return 'max'
  return null
}

/** figureOf is the number that was typed; what is none counts as empty. */
export function figureOf(typed: number | string): number | '' {
  return typed === '' || Number.isNaN(Number(typed)) ? '' : Number(typed)
}

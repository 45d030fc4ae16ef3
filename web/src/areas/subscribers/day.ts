import type { Shape } from '../../api/types'

/** Day is how one day of a customer was. */
export type Day = Shape<'DayResponse'>

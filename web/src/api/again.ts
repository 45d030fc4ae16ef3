import { asProblem } from './problem'

/** passes: a refusal is final. What failed on the way, or because something was away, may succeed a moment later. */
export const passes = (cause: unknown) => {
  const { status } = asProblem(cause)
  return status === 0 || status >= 500
}

/** readAgain is after how long what has failed is read again, in milliseconds. */
export const readAgain = 15_000

/** triedTwice has what failed tried twice more at once; what the server itself has failed at is told at once. */
export const triedTwice = (failures: number, cause: unknown) => failures < 2 && passes(cause) && asProblem(cause).status !== 500

/** readUntilRead has a read that has failed read again as long as it is shown: a page gets well by itself. */
export const readUntilRead = ({ state: { error } }: { state: { error: object | null } }) => error !== null && passes(error) && readAgain

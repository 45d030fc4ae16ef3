import { isOld } from './version'

/** Missing is thrown in place of a part of the program that could not be read. */
export class Missing extends Error {
  constructor(
    /** old = the server has another version of the program, in which the part has another name. */
    readonly old: boolean,
    cause: unknown,
  ) {
    super('a part of the program could not be read', { cause })
    this.name = 'Missing'
  }
}

// How long a part waits before each further try, in milliseconds.
const pauses = [500, 2_000]

/** readPart reads a part of the program, with patience for a line that loses some requests. It throws Missing. */
export async function readPart<T>(load: () => Promise<T>, old = isOld, wait = sleep): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await load()
    } catch (cause) {
      const pause = pauses[tries]
      const gone = await old()
      if (gone || pause === undefined) throw new Missing(gone, cause)
      await wait(pause)
    }
  }
}

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms))

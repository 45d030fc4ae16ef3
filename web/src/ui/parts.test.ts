import { describe, expect, it } from 'vitest'
import { Missing, readPart } from './parts'

const lost = new TypeError('Failed to fetch dynamically imported module')
const now = () => Promise.resolve()
const current = () => Promise.resolve(false)

/** losing fails so often before it gives a part. */
function losing(times: number) {
  let calls = 0
  const load = () => (++calls > times ? Promise.resolve('part') : Promise.reject(lost))
  return { load, calls: () => calls }
}

describe('a part of the program', () => {
  it('is asked for again when it is lost on the way', async () => {
    const line = losing(2)
    await expect(readPart(line.load, current, now)).resolves.toBe('part')
    expect(line.calls()).toBe(3)
  })

  it('is missing when it is lost each time', async () => {
    await expect(readPart(losing(3).load, current, now)).rejects.toMatchObject({ old: false, cause: lost })
  })

  it('is not asked for again of another version', async () => {
    const line = losing(9)
    const read = readPart(line.load, () => Promise.resolve(true), now)
    await expect(read).rejects.toBeInstanceOf(Missing)
    await expect(read).rejects.toMatchObject({ old: true })
    expect(line.calls()).toBe(1)
  })
})

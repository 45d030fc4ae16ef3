import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { readUntilRead, triedTwice } = await import('./again')
const { Problem } = await import('./problem')

const failed = (status: number) => new Problem(status, null, null, null)
const again = (error: Error | null) => readUntilRead({ state: { error } })

test('what may succeed a moment later is read again as long as it is shown, a refusal is final', () => {
  for (const status of [0, 500, 502, 503]) expect(again(failed(status))).toBe(15_000)
  for (const status of [401, 403, 404, 422, 429]) expect(again(failed(status))).toBe(false)
  expect(again(null)).toBe(false)
})

test('a lost answer is asked for twice more before it is told, an error of the server is told at once', () => {
  expect([0, 1, 2].map((n) => triedTwice(n, failed(503)))).toEqual([true, true, false])
  expect(triedTwice(0, failed(500))).toBe(false)
  expect(triedTwice(0, failed(404))).toBe(false)
})

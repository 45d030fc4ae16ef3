import { expect, test, vi } from 'vitest'
import type { Fault } from './today'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { readAgain } = await import('../../api/again')
const { Problem } = await import('../../api/problem')
const { pauseOf } = await import('./pause')

const read = (...kinds: Fault['kind'][]) => ({ faults: kinds.map((kind) => ({ kind })) })
const failed = (status: number) => new Problem(status, {}, null, null)

test('while a part does not work it is asked every few seconds, and no longer', () => {
  for (const kind of ['nothing_saved', 'part_down'] as const) {
    const pause = pauseOf({ state: { data: read('router_down', kind), error: null } })
    expect(pause).toBeGreaterThanOrEqual(5_000)
    expect(pause).toBeLessThanOrEqual(10_000)
  }
  for (const data of [read(), read('router_down', 'provider_down', 'process_stopped', 'breaker_open'), undefined]) {
    expect(pauseOf({ state: { data, error: null } })).toBe(60_000)
  }
})

test('what is shown from before goes on being asked for, also while a read fails', () => {
  const down = read('nothing_saved')
  expect(pauseOf({ state: { data: down, error: failed(503) } })).toBe(pauseOf({ state: { data: down, error: null } }))
  expect(pauseOf({ state: { data: read(), error: failed(503) } })).toBe(readAgain)
  expect(pauseOf({ state: { data: undefined, error: failed(503) } })).toBe(readAgain)
})

test('whom the server refuses does not ask it every few seconds', () => {
  expect(pauseOf({ state: { data: read('nothing_saved'), error: failed(403) } })).toBe(60_000)
})

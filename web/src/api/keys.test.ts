import { describe, expect, test, vi } from 'vitest'
import { Keys } from './keys'
import type { Problem } from './problem'

const problem = (status: number, code = 'x') => ({ status, code }) as Problem

describe('the idempotency key of a write that is tried again', () => {
  test('stays while the outcome is unknown, whatever the tries between are refused for', () => {
    const keys = new Keys()
    const key = keys.of('credit 100')
    keys.ended('credit 100', key, problem(0))
    for (const p of [problem(409, 'idempotency_key_running'), problem(429, 'rate_limited'), problem(403), problem(503)]) {
      expect(keys.of('credit 100')).toBe(key)
      keys.ended('credit 100', key, p)
    }
    expect(keys.of('credit 100')).toBe(key)
    expect(keys.of('credit 200')).not.toBe(key)
  })

  test('is another one after a success, after a refusal without doubt, and later', () => {
    const keys = new Keys()
    const first = keys.of('credit 100', 0)
    keys.ended('credit 100', first, problem(422), 0)
    const second = keys.of('credit 100', 0)
    expect(second).not.toBe(first)
    keys.ended('credit 100', second, problem(502), 0)
    expect(keys.of('credit 100', 14 * 60_000)).toBe(second)
    expect(keys.of('credit 100', 16 * 60_000)).not.toBe(second)
    keys.ended('credit 100', second, null, 0)
    expect(keys.of('credit 100', 0)).not.toBe(second)
  })

  test('is forgotten with what was sent when it is of no use any more', () => {
    vi.useFakeTimers()
    const keys = new Keys()
    const key = keys.of('a secret', 0)
    keys.ended('a secret', key, problem(0), 0)
    vi.advanceTimersByTime(14 * 60_000)
    expect(keys.of('a secret', 0)).toBe(key)
    vi.advanceTimersByTime(60_000)
    expect(keys.of('a secret', 0)).not.toBe(key)
    vi.useRealTimers()
  })
})

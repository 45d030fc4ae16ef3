import { expect, test } from 'vitest'
import { freshnessOf } from './freshness'

const now = Date.parse('2026-11-22T12:00:00Z')

test('a look is fresh by its age, and not because the one before succeeded', () => {
  expect(freshnessOf({ lookedAt: '2026-11-22T11:55:00Z', unseenSince: null }, now)).toBe('fresh')
  expect(freshnessOf({ lookedAt: '2026-11-22T10:59:00Z', unseenSince: null }, now)).toBe('old')
  expect(freshnessOf({ lookedAt: '2026-11-08T12:00:00Z', unseenSince: null }, now)).toBe('old')
})

test('a router that could not be compared is not seen, however fresh the last comparison is', () => {
  expect(freshnessOf({ lookedAt: '2026-11-22T11:55:00Z', unseenSince: '2026-11-22T11:58:00Z' }, now)).toBe('unseen')
  expect(freshnessOf({ lookedAt: null, unseenSince: null }, now)).toBe('never')
})

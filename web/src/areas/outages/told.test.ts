import { expect, test } from 'vitest'
import { untold } from './told'

test('customers can be told of an outage that lasts, once', () => {
  const now = Date.parse('2026-03-04T09:00:00Z')
  expect(untold({ state: 'running', tellAfter: null }, now)).toBe(true)
  expect(untold({ state: 'running', tellAfter: '2026-03-04T09:15:00Z' }, now)).toBe(true)
  expect(untold({ state: 'running', tellAfter: '2026-03-04T08:59:00Z' }, now)).toBe(false)
  expect(untold({ state: 'ended', tellAfter: null }, now)).toBe(false)
})

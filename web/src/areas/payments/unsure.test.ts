import { expect, test } from 'vitest'
import { isUnsure } from './unsure'

const now = Date.parse('2026-11-22T12:00:00Z')
const prompt = (seconds: number, checkoutRequestId: string | null) => ({
  status: 'PENDING', gateway: 'mobile_money_stk', checkoutRequestId, initiatedAt: new Date(now - seconds * 1000).toISOString(),
} as const)

test('a prompt that the provider has not named for seconds is on nobody knows whose phone', () => {
  expect(isUnsure(prompt(60, null), now)).toBe(true)
  expect(isUnsure(prompt(3, null), now)).toBe(false)
  expect(isUnsure(prompt(60, 'ws_CO_1'), now)).toBe(false)
  expect(isUnsure({ ...prompt(60, null), status: 'FAILED' }, now)).toBe(false)
  expect(isUnsure({ ...prompt(60, null), gateway: 'cash' }, now)).toBe(false)
})

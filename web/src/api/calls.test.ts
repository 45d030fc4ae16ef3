import { expect, test } from 'vitest'
import { maskedPath } from './calls'

test('a voucher\'s code is hidden in addresses but for its last two signs', () => {
  expect(maskedPath('/vouchers/K7QX-9FMT/void')).toBe('/vouchers/********MT/void')
  expect(maskedPath('/vouchers/abc%20def?x=1')).toBe('/vouchers/********ef?x=1')
  expect(maskedPath('/vouchers/K7/void')).toBe('/vouchers/********/void')
})

test('ids, filters and what staff searches for are shown as they are', () => {
  for (const path of [
    '/vouchers/019a4c01-768c-73f0-ba6e-6754d1dc0d98/void', '/vouchers?state=unused', '/search?q=K7QX-9FMT', '/subscribers/019a4c01-768c-73f0-ba6e-6754d1dc0d98',
  ]) expect(maskedPath(path)).toBe(path)
})

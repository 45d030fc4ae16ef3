import { expect, test } from 'vitest'
import { isDeviceCode, isFactorCode } from './factorCode'

test('six digits are a code of a device, however they are grouped', () => {
  for (const text of ['123456', '123 456', ' 123456 ']) expect(isDeviceCode(text)).toBe(true)
  for (const text of ['', '12345', '1234567', '12345a', '１２３４５６']) expect(isDeviceCode(text)).toBe(false)
})

test('a recovery code is taken in any spelling, and half of one is not', () => {
  for (const text of ['k3v9a-7mx2q', 'K3V9A7MX2Q', 'k3v9a 7mx2q', '123456']) expect(isFactorCode(text)).toBe(true)
  for (const text of ['k3v9a', 'k3v9a-7mx2', 'k3v9a-7mx2qq', 'k3v9a-7mx2!']) expect(isFactorCode(text)).toBe(false)
})

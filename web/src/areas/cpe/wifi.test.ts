import { expect, test } from 'vitest'
import { chosenNetworks, passwordFault, ssidFault, wifiReady } from './wifi'

test('a name of a network is counted in bytes', () => {
  expect(ssidFault('a'.repeat(32))).toBeNull()
  expect(ssidFault('a'.repeat(33))).toBe('ssidLong')
  expect(ssidFault('ñ'.repeat(16))).toBeNull()
  expect(ssidFault('ñ'.repeat(17))).toBe('ssidLong')
})

test('a password has 8 signs of English at least', () => {
  expect(passwordFault('')).toBeNull()
  expect(passwordFault('1234567')).toBe('passwordShort')
  expect(passwordFault('12345678')).toBeNull()
  expect(passwordFault('nenosiri-ñ')).toBe('passwordForeign')
})

test('both must be there', () => {
  expect(wifiReady('Home', '12345678')).toBe(true)
  expect(wifiReady(' ', '12345678')).toBe(false)
  expect(wifiReady('Home', '')).toBe(false)
  expect(wifiReady('Home', '1234567')).toBe(false)
})

test('networks are named when others than the main one are chosen', () => {
  const all = [{ path: 'a', kind: 'main' }, { path: 'b', kind: 'guest' }, { path: 'c', kind: 'main' }]
  expect(chosenNetworks(all, ['c', 'a'])).toBeUndefined()
  expect(chosenNetworks(all, ['b'])).toEqual(['b'])
  expect(chosenNetworks(all, ['a'])).toEqual(['a'])
  expect(chosenNetworks([], [])).toBeUndefined()
})

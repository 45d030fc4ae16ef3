import { expect, test } from 'vitest'
import { addressesOf, addressesTyped } from './addresses'

test('only what was typed is sent: the rest may be what somebody else has just given', () => {
  const before = addressesOf({ macAddresses: ['AA:BB:CC:00:00:01'], staticIp: '197.136.5.9', routes: ['203.0.113.0/29'] })
  expect(addressesTyped(before, before)).toEqual({})
  expect(addressesTyped(before, { ...before, macs: `${before.macs}\nAA:BB:CC:00:00:02, ` }))
    .toEqual({ macAddresses: ['AA:BB:CC:00:00:01', 'AA:BB:CC:00:00:02'] })
  expect(addressesTyped(before, { ...before, staticIp: ' ' })).toEqual({ staticIp: null })
  expect(addressesTyped(before, { ...before, routes: '' })).toEqual({ routes: [] })
  expect(addressesTyped(addressesOf(null), { macs: '', staticIp: '', routes: '' })).toEqual({})
})

import { expect, test } from 'vitest'
import { noOnu, onuOf } from './onu'

const whole = { olt: 'hill', port: '0/1/1', serial: 'HWTC1A2B3C4D', vlan: 100 }

test('an ONU is sent as terminals write it, however the sticker does', () => {
  expect(onuOf(whole)).toEqual(whole)
  expect(onuOf({ olt: ' Hill ', port: ' 0/1/1 ', serial: 'hwtc-1a2b 3c4d', vlan: 100 })).toEqual(whole)
})

test('an ONU is sent when all of it is there', () => {
  expect(onuOf(noOnu)).toBeNull()
  for (const part of ['olt', 'port', 'serial'] as const) expect(onuOf({ ...whole, [part]: ' ' }), part).toBeNull()
  expect(onuOf({ ...whole, vlan: '' })).toBeNull()
})

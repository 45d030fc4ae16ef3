import { expect, test } from 'vitest'
import { presenceOf } from './words'

test('nobody is online behind a router that does not answer, though the session is still open', () => {
  const outage = { deviceId: 'd', deviceName: 'hill-east', since: '2026-11-23T18:00:00Z' }
  expect(presenceOf({ online: true, outage })).toBe('away')
  expect(presenceOf({ online: false, outage })).toBe('away')
  expect(presenceOf({ online: true, outage: null })).toBe('online')
  expect(presenceOf({ online: false, outage: null })).toBe('offline')
})

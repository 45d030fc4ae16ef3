import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('navigator', { language: 'en' })
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { devicesText } = await import('../../text/devices')
const { Format } = await import('../../text/format')
const { devicesOf, versionsOf } = await import('./devices')

const f = new Format('en', { timezone: 'UTC', currency: 'KES' })
const none = { total: 0, online: 0, offline: 0, staleDevices: 0, firmwareCounts: {} }

test('what is offline or silent is told where there is some', () => {
  const keys = (c: Parameters<typeof devicesOf>[0]) => devicesOf(c, devicesText.en, f).map((l) => l.key)
  expect(keys({ ...none, total: 3, online: 3 })).toEqual(['total', 'online'])
  expect(keys({ ...none, total: 3, online: 1, offline: 2, staleDevices: 1 })).toEqual(['total', 'online', 'offline', 'stale'])
})

test('the firmware of most devices stands first, and one that is not known has no name', () => {
  expect(versionsOf({ ...none, firmwareCounts: { Unknown: 2, '1.0': 1, '2.0': 5 } })).toEqual([
    { version: '2.0', count: 5 }, { version: null, count: 2 }, { version: '1.0', count: 1 },
  ])
})

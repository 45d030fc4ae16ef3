import { expect, test, vi } from 'vitest'

test('a long list is read again at once after a change, and then twice a minute at most', async () => {
  vi.stubGlobal('navigator', { language: 'en' })
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('document', { documentElement: {} })
  vi.stubGlobal('location', { origin: 'http://x.test' })
  const { againIn } = await import('./all')
  expect(againIn(0, 1_000_000)).toBe(0)
  expect(againIn(1_000_000, 1_010_000)).toBe(20_000)
  expect(againIn(1_000_000, 1_090_000)).toBe(0)
})

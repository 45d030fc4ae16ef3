import { describe, expect, it, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { amountsIn, Format } = await import('./format')

const zone = { timezone: 'Africa/Nairobi', currency: 'KES' }
const now = Date.parse('2026-11-22T12:00:00Z')

describe('an instant in a row', () => {
  it('has the day of the week, and the year only when it is far', () => {
    const f = new Format('en', zone)
    expect(f.short('2026-11-17T03:00:00Z', now)).toBe('Tue, 17 Nov, 06:00')
    expect(f.short('2025-12-24T06:46:00Z', now)).toBe('Wed, 24 Dec 2025, 09:46')
  })

  it('is as short in Swahili', () => {
    const f = new Format('sw', zone)
    expect(f.short('2026-11-17T03:00:00Z', now)).toBe('Jnne, 17 Nov, 06:00')
  })
})

it('a length of time has the unit before its number in Swahili', () => {
  expect(new Format('en', zone).duration(4080)).toBe('1 h 8 min')
  expect(new Format('sw', zone).duration(4080)).toBe('saa 1 dak 8')
  expect(new Format('sw', zone).duration(0)).toBe('sek 0')
})

describe('the amounts of a sentence of the API', () => {
  const plain = (text: string) => text.replace(/\u00a0/g, ' ').replace(/[\u2066-\u2069]/g, '')

  it('are written as the pages write all others', () => {
    expect(plain(amountsIn('Receipt of KES 1500.00, of which KES 250.50 is left', 'en'))).toBe(
      `Receipt of ${plain(new Format('en', zone).money(1500, 'KES'))}, of which ${plain(new Format('en', zone).money(250.5, 'KES'))} is left`,
    )
    expect(amountsIn('KES 1500.00', 'en')).toMatch(/1,500/)
  })

  it('are told from numbers that only look like them', () => {
    for (const other of ['ACME-0123', 'KES 1500', 'KES 1.234', 'version 10.00']) expect(amountsIn(other, 'en')).toBe(other)
  })
})

import { describe, expect, it } from 'vitest'
import { bodyOf, draftOf, isReady, type Proposed } from './proposed'

const burst = { down: 20_000, up: 10_000, thresholdDown: 8_000, thresholdUp: 4_000, seconds: 16 }
const home: Proposed = {
  code: 'home-10', name: 'home-10', kind: 'pppoe', profile: 'home-10', rateLimit: '5M/10M', more: false, customers: 3, planId: null,
  rates: { down: 10_000, up: 5_000, burst },
}
const terms = { mode: 'prepaid', period: 'month' } as const

describe('a proposed plan', () => {
  it('waits for a price, and for speeds where the router has none', () => {
    expect(isReady(home, draftOf(home))).toBe(false)
    expect(isReady(home, { ...draftOf(home), price: 0 })).toBe(true)
    const open = { ...home, rates: null }
    expect(draftOf(open)).toEqual({ price: '', down: '', up: '' })
    expect(isReady(open, { price: 100, down: '', up: 2 })).toBe(false)
    expect(isReady({ ...home, planId: 'x' }, { ...draftOf(home), price: 1 })).toBe(false)
  })

  it('keeps the burst of the router with its speeds, and no other', () => {
    expect(bodyOf(home, { ...draftOf(home), price: 1500 }, terms, 'KES').rates).toEqual({ down: 10_000, up: 5_000, burst })
    expect(bodyOf(home, { price: 1500, down: 12.5, up: 5 }, terms, 'KES').rates).toEqual({ down: 12_500, up: 5_000 })
  })
})

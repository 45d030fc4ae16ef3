import { describe, expect, it } from 'vitest'
import type { Shape } from '../../../api/types'
import { codeFrom, draftOf, hasMore, patchOf, termsOf, usual } from './draft'

const plan: Shape<'PlanResponse'> = {
  id: '0', code: 'home-10', name: 'Home 10', version: 2, kind: 'pppoe', price: 1500, currency: 'KES',
  billing: { mode: 'prepaid', period: 'month', anchor: 'anniversary' }, lateRenewal: 'payment', partialPayment: 'credit',
  billWhileSuspended: 'yes',
  rates: {
    down: 10_000,
    up: 512,
    burst: { down: 20_000, up: 1024, thresholdDown: 8000, thresholdUp: 400, seconds: 16 },
  },
  sessionLimit: 1, onLimit: 'replace', archived: false, versions: [], createdAt: '2026-01-01T00:00:00Z',
  cap: { bytes: 300_500_000_000, period: 'month', then: 'throttle', throttle: { down: 1000, up: 500 } },
  schedule: [{ days: ['friday'], from: '22:00', to: '06:00', rates: { down: 30_000, up: 3000 } }],
}

describe('patchOf', () => {
  it('changes nothing when nothing was typed, whatever terms the plan has', () => {
    expect(patchOf(plan, draftOf(plan))).toEqual({})
    expect(patchOf({ ...plan, cap: null, schedule: null, rates: { down: 1, up: 1 } }, {
      ...draftOf({ ...plan, cap: null, schedule: null, rates: { down: 1, up: 1 } }),
    })).toEqual({})
  })

  it('sends the burst along with changed rates, which would be lost otherwise', () => {
    expect(patchOf(plan, { ...draftOf(plan), down: 12.5 })).toEqual({
      rates: { ...plan.rates, down: 12_500 },
    })
  })

  it('removes by null', () => {
    expect(patchOf(plan, { ...draftOf(plan), cap: null, schedule: [] })).toEqual({ cap: null, schedule: null })
  })
})

describe('termsOf', () => {
  it('sends a billing day with months alone', () => {
    expect(termsOf({ ...usual, anchor: '5' }).billing).toEqual({ mode: 'prepaid', period: 'month', anchor: '5' })
    expect(termsOf({ ...usual, anchor: '5', period: 'week' }).billing.anchor).toBe('anniversary')
  })

  it('sends no speed after a cap that stops', () => {
    const cap = { gigabytes: 1, period: 'day', then: 'stop', down: 1, up: 1 } as const
    expect(termsOf({ ...usual, cap }).cap).toEqual({ bytes: 1e9, period: 'day', then: 'stop' })
  })
})

describe('codeFrom', () => {
  it('makes a code of any name', () => {
    expect(codeFrom(' Café  10 Mbps! ')).toBe('cafe-10-mbps')
    expect(codeFrom('日本')).toBe('')
  })
})

describe('hasMore', () => {
  it('tells the usual plan from others', () => {
    expect(hasMore({ ...usual, name: 'Home', price: 1500, down: 10, up: 5 })).toBe(false)
    expect(hasMore(draftOf(plan))).toBe(true)
    expect(hasMore({ ...usual, lateRenewal: 'expiry' })).toBe(true)
    expect(hasMore({ ...usual, partialPayment: 'days' })).toBe(true)
    expect(hasMore({ ...usual, partialPayment: 'days', mode: 'postpaid' })).toBe(false)
    expect(hasMore({ ...usual, billWhileSuspended: 'no', mode: 'postpaid' })).toBe(true)
  })
})

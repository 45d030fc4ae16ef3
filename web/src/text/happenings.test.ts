import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'sw' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { tell, happeningsText } = await import('./happenings')
const { Format } = await import('./format')

const zone = { timezone: 'Africa/Nairobi', currency: 'KES' }
const spaces = (text: string) => text.replaceAll('\u00a0', ' ')

test('what happened is told in the language, with money and the times of the organization', () => {
  const facts = { amount: 1500, currency: 'KES', invoice: 'ACME-0001', invoices: 2 }
  const garden = { code: 'walled_garden_entered', facts, summary: '' } as const
  expect(spaces(tell(garden, 'en', new Format('en', zone))))
    .toBe('Not paid in time: KES 1,500 of invoice ACME-0001 and 1 other. Only the payment page can be reached.')
  expect(spaces(tell(garden, 'sw', new Format('sw', zone)))).toContain('ya ankara ACME-0001 na nyingine 1. Anafikia')
  const hold = { code: 'hold_placed', facts: { until: '2026-12-31T22:53:00Z' }, summary: '' } as const
  expect(tell(hold, 'en', new Format('en', zone))).toContain('until 1 Jan 2027, 01:53')
})

test('a code that is newer than the page is told in the words of the API, and a newer fact by its name', () => {
  const f = new Format('sw', zone)
  const newer = { code: 'of_tomorrow' as 'period_due', facts: {}, summary: 'It is new.' }
  expect(tell(newer, 'sw', f)).toBe('It is new.')
  const cut = { code: 'clock_stopped', facts: { from: '2026-03-02T09:00:00Z', cause: 'of_tomorrow' }, summary: '' } as const
  expect(tell(cut, 'sw', f)).toContain('of tomorrow')
})

const whole = {
  amount: 1500, due: 500, currency: 'KES', invoice: 'ACME-0001', invoices: 3, number: 'CN-1', channel: 'c2b', plan: 'Home', period: 'month',
  used: 5, allowed: 10, bytes: 5, from: '2026-03-02T09:00:00Z', until: '2026-03-02T09:00:00Z', cause: 'no_line',
  difference: 'wrong_rate', reason: 'blocked', message: 'suspended', fault: 'no_address',
} as const

test('every sentence is whole, and another one in Swahili', () => {
  const codes = Object.keys(happeningsText.en.says) as (keyof typeof happeningsText.en.says)[]
  for (const code of codes) {
    const said = (['en', 'sw'] as const).map((l) => tell({ code, facts: whole, summary: 'API' }, l, new Format(l, zone)))
    for (const s of said) expect(s, code).toMatch(/^[A-Z0-9].*\.$/)
    expect(said[0], code).not.toBe(said[1])
    expect(said.join(), code).not.toMatch(/undefined|API|NaN|Invalid/)
    const bare = tell({ code, facts: {}, summary: 'API' }, 'sw', new Format('sw', zone))
    expect(bare, code).not.toMatch(/undefined|API|NaN|Invalid/)
  }
})

test('a period that was never served is not said to have lost its subscription, which goes on after a credit note', () => {
  const f = new Format('en', zone)
  const told = tell({ code: 'period_never_began', facts: {}, summary: 'API' }, 'en', f)
  expect(told).toBe('A period was cancelled before it was served: its invoice is no longer owed.')
  expect(tell({ code: 'period_never_began', facts: {}, summary: 'API' }, 'sw', f)).not.toContain('usajili')
})

import { expect, test } from 'vitest'
import { hiddenIn, isInstant, linesOf, moneyIn } from './recorded'

test('the fields of a state are listed by their whole names, without those that say nothing', () => {
  const due = { amount: 1500, currency: 'KES' }
  expect(linesOf({
    id: 'x', blocked: false, name: '', details: { phone: { hidden: 'forgotten' }, email: null },
    invoices: { a: { due, lines: [{ days: 3 }] } },
  })).toEqual([
    { field: 'id', value: 'x' },
    { field: 'details.phone', value: { hidden: 'forgotten' } },
    { field: 'invoices.a.due', value: due },
    { field: 'invoices.a.lines.0.days', value: 3 },
  ])
  expect(linesOf(null)).toEqual([])
})

test('what is hidden, money and instants are told from other values', () => {
  expect(hiddenIn({ hidden: 'secret' })).toBe('secret')
  for (const other of [null, 'hidden', { hidden: 'x', more: 1 }, { hidden: 1 }, []]) expect(hiddenIn(other)).toBeNull()
  expect(moneyIn({ amount: 0, currency: 'KES' })).toEqual({ amount: 0, currency: 'KES' })
  for (const other of [null, 3, { amount: 1 }, { amount: '1', currency: 'KES' }, { amount: 1, currency: 'KES', due: 2 }]) {
    expect(moneyIn(other)).toBeNull()
  }
  expect(isInstant('2026-03-02T09:00:00.123456789Z')).toBe(true)
  for (const other of ['2026-03-02', 'at 2026-03-02T09:00:00Z', 3, null]) expect(isInstant(other)).toBe(false)
})

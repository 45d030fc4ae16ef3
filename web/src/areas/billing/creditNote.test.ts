import { expect, test } from 'vitest'
import { creditNoteOf, restOf } from './creditNote'

const invoice = { total: 1500, credited: 0, writtenOff: 0, paid: 1500, periodTo: '2026-12-01T00:00:00Z' }

test('what can be given back is what no note and no write-off has taken, to the cent', () => {
  expect(restOf({ ...invoice, credited: 100.1, writtenOff: 0.2 })).toBe(1399.7)
  expect(restOf({ ...invoice, credited: 1500 })).toBe(0)
})

test('all of it goes back without an amount, and by its whole amount', () => {
  expect(creditNoteOf(invoice, '').whole).toBe(true)
  expect(creditNoteOf(invoice, 1500).whole).toBe(true)
  expect(creditNoteOf({ ...invoice, credited: 0.1 }, 1499.9).whole).toBe(true)
  expect(creditNoteOf(invoice, 1499.99).whole).toBe(false)
})

test('that the money pays for the next period is told only where a period was paid and all of it goes back', () => {
  expect(creditNoteOf(invoice, '').runsOn).toBe(true)
  expect(creditNoteOf(invoice, 500).runsOn).toBe(false)
  expect(creditNoteOf({ ...invoice, paid: 0 }, '').runsOn).toBe(false)
  expect(creditNoteOf({ ...invoice, periodTo: null }, '').runsOn).toBe(false)
})

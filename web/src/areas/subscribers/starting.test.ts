import { expect, test } from 'vitest'
import { dueNow, startingOf } from './starting'

type Service = Parameters<typeof startingOf>[0]
type Invoice = Parameters<typeof startingOf>[1][number]

const now = Date.parse('2026-11-22T12:00:00Z')
const waiting: Service = {
  id: 's1', state: 'pending', price: 1500, paidUntil: null, openInvoiceId: null,
  billing: { mode: 'prepaid', period: 'month' } as Service['billing'],
}
const invoice = (state: Invoice['state'], due: number, total = 1500): Invoice => ({ subscriptionId: 's1', state, total, due })
const voided = invoice('voided', 0)
const account = (credit: number, balance = -credit) => ({ credit, balance })

test('a service whose first invoice was voided starts with what the credit leaves of its price', () => {
  expect(startingOf(waiting, [voided], 0, now)).toEqual({ price: 1500, left: 1500 })
  expect(startingOf(waiting, [voided], 500, now)).toEqual({ price: 1500, left: 1000 })
  expect(startingOf(waiting, [voided], 2000, now)).toEqual({ price: 1500, left: 0 })
  expect(dueNow(account(0), [waiting], [voided], now)).toBe(1500)
  expect(dueNow(account(500), [waiting], [voided], now)).toBe(1000)
  expect(dueNow(account(2000), [waiting], [voided], now)).toBe(0)
})

test('a tax on top of the price is in what starts it', () => {
  const taxed = [invoice('voided', 0, 1740), invoice('voided', 0, 1800)]
  expect(startingOf(waiting, taxed, 1500, now)).toEqual({ price: 1740, left: 240 })
})

test('amounts have no more than cents', () => {
  expect(startingOf({ ...waiting, price: 0.3 }, [], 0.1, now)).toEqual({ price: 0.3, left: 0.2 })
  expect(dueNow(account(0.1), [{ ...waiting, price: 0.3 }], [], now)).toBe(0.2)
})

test('whose paid time is over and who has no open invoice starts with the price, too', () => {
  const over: Service = { ...waiting, state: 'active', paidUntil: '2026-11-20T00:00:00Z' }
  expect(startingOf(over, [voided], 0, now)).toEqual({ price: 1500, left: 1500 })
  expect(startingOf({ ...over, paidUntil: '2026-11-25T00:00:00Z' }, [voided], 0, now)).toBeNull()
})

test('an open invoice asks for the price itself, and who rests, has ended or pays afterwards is asked for none', () => {
  expect(startingOf(waiting, [invoice('partially_paid', 400), voided], 0, now)).toBeNull()
  expect(startingOf({ ...waiting, openInvoiceId: 'i1' }, [], 0, now)).toBeNull()
  expect(startingOf({ ...waiting, state: 'paused' }, [], 0, now)).toBeNull()
  expect(startingOf({ ...waiting, state: 'ended' }, [], 0, now)).toBeNull()
  expect(startingOf({ ...waiting, billing: { ...waiting.billing, mode: 'postpaid' } }, [], 0, now)).toBeNull()
  expect(dueNow(account(0, 400), [waiting], [invoice('partially_paid', 400)], now)).toBe(400)
  expect(dueNow(account(0, 0), [], [], now)).toBe(0)
})

test('what is owed besides is asked for with it', () => {
  const once: Invoice = { subscriptionId: null, state: 'issued', total: 300, due: 300 }
  expect(dueNow(account(0, 300), [waiting], [once, voided], now)).toBe(1800)
})

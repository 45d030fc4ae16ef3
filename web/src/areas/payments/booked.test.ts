import { expect, test } from 'vitest'
import { isBooked, restOf, seenState, setAsideOf } from './booked'

const receipt = (state: Parameters<typeof seenState>[0]['state'], creditedTo: string | null) => ({ state, creditedTo })

test('money is credited once the account has it, whether or not an invoice took a part of it', () => {
  expect(seenState(receipt('matched', 'a customer'))).toBe('allocated')
  expect(isBooked(receipt('matched', 'a customer'))).toBe(true)
  for (const state of ['matched', 'allocated', 'attributed'] as const) {
    expect(seenState(receipt(state, null))).toBe('matched')
    expect(isBooked(receipt(state, null))).toBe(false)
  }
  expect(seenState(receipt('attributed', 'a customer'))).toBe('attributed')
})

test('what is not on an account is called what it is', () => {
  for (const state of ['recorded', 'suspense', 'absorbed', 'reversed'] as const) {
    expect(seenState(receipt(state, null))).toBe(state)
    expect(isBooked(receipt(state, null))).toBe(false)
  }
})

test('money that recovers a loss, and money that went back to the payer or waits for it, is no credit', () => {
  const after = (setAside: number, refunded: number, ...paid: number[]) => restOf({
    ...receipt('allocated', 'a customer'), amount: 5000, refunded,
    allocations: paid.map((amount, i) => ({ invoiceId: `${i}`, number: null, amount, loss: i > 0 })),
  }, setAside)
  expect(after(0, 0)).toBe(5000)
  expect(after(0, 0, 2000, 3000)).toBe(0)
  expect(after(0, 1500, 2000)).toBe(1500)
  expect(after(1000, 500, 2000)).toBe(1500)
  expect(after(5000, 0)).toBe(0)
})

test('money is set aside from the moment when it is secured until its refund has ended', () => {
  const refund = (state: Parameters<typeof setAsideOf>[0][0]['state'], secured = true) => ({ state, secured, amount: 1000 })
  for (const state of ['requested', 'approved', 'submitted', 'in_doubt'] as const) {
    expect(setAsideOf([refund(state)])).toBe(1000)
    expect(setAsideOf([refund(state, false)])).toBe(0)
  }
  expect(setAsideOf([refund('completed'), refund('failed'), refund('approved'), refund('requested')])).toBe(2000)
})

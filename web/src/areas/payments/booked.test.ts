import { expect, test } from 'vitest'
import { isBooked, seenState } from './booked'

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

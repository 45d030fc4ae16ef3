import { expect, test } from 'vitest'
import { type Account, chosenOf, nameOf, phonesOf } from './accounts'
import { amountOf } from './amount'

const account = (id: string, due: number) => ({ id, due }) as Account

test('the account is the one that is asked for, or the first that asks for money', () => {
  const all = [account('a', 0), account('b', 700), account('c', 900)]
  expect(chosenOf(all, 'c')?.id).toBe('c')
  expect(chosenOf(all, 'somebody else’s')?.id).toBe('b')
  expect(chosenOf(all.slice(0, 1), null)?.id).toBe('a')
  expect(chosenOf([], null)).toBeUndefined()
})

test('only own phones are asked, each once', () => {
  expect(phonesOf({ phone: '+254700000001' }, { phone: '+254700000002' })).toEqual(['+254700000001', '+254700000002'])
  expect(phonesOf({ phone: '+254700000001' }, { phone: '+254700000001' })).toEqual(['+254700000001'])
  expect(phonesOf({ phone: null }, { phone: null })).toEqual([])
})

test('an account has a name although its person was forgotten', () => {
  expect(nameOf({ firstName: 'Amina', lastName: null }, { nameless: 'Account' })).toBe('Amina')
  expect(nameOf({ firstName: null, lastName: null }, { nameless: 'Account' })).toBe('Account')
})

test('an amount is above zero, and nothing is guessed', () => {
  expect(['1500', '1,500', '1500.50', ' 20 ', '0', '-5', '', '1.500', 'abc', '1500,50'].map(amountOf)).toEqual([
    1500, 1500, 1500.5, 20, null, null, null, null, null, null,
  ])
})

import { expect, test } from 'vitest'
import { idIn, loginsOf } from './owner'

const id = '01890a5d-ac96-774b-bcce-b302099a8057'

test('a customer is named by the id, or by the address of the page', () => {
  expect(idIn(id)).toBe(id)
  expect(idIn(` ${id.toUpperCase()} `)).toBe(id)
  expect(idIn(`https://acme.example.com/app/customers/${id}?view=timeline`)).toBe(id)
  for (const text of ['', 'Acacia House', 'https://acme.example.com/app/customers', id.slice(1)]) expect(idIn(text), text).toBeNull()
})

test('a service that has ended has no login', () => {
  expect(loginsOf([{ state: 'active' }, { state: 'ended' }, { state: 'paused' }]).map((s) => s.state)).toEqual(['active', 'paused'])
})

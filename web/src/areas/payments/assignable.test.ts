import { expect, it } from 'vitest'
import { assignable } from './assignable'

const orgs = [{ id: 'a', currency: 'KES' }, { id: 'b', currency: 'TZS' }, { id: 'c', currency: 'KES' }]

it('leaves out organizations of another currency, which the server refuses', () => {
  expect(assignable(orgs, 'KES')).toEqual({ fitting: [orgs[0], orgs[2]], others: 1 })
  expect(assignable(orgs, 'UGX')).toEqual({ fitting: [], others: 3 })
  expect(assignable([], 'KES')).toEqual({ fitting: [], others: 0 })
})

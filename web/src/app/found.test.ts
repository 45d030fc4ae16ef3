import { expect, test } from 'vitest'
import { foundOf } from './found'

test('a receipt is opened where it has a page: in suspense on the root host, by itself elsewhere', () => {
  const receipt = {
    type: 'receipt' as const, id: 'r1', title: 'QC5HNGH7BR', subtitle: '', subscriberId: null, match: 'receipt' as const, state: 'suspense',
  }
  expect(foundOf(receipt, true)).toMatchObject({ to: '/suspense', search: { receipt: 'r1' } })
  expect(foundOf(receipt, false)).toMatchObject({ to: '/receipts/r1' })
  expect(foundOf(receipt, false).search).toBeUndefined()
})

import { expect, it } from 'vitest'
import { usedReceipt } from './usedReceipt'

const receipt = {
  id: 'r', receiptNumber: 'Book 7/1', amount: 12.5, currency: 'KES', paidAt: '2026-01-01T00:00:00Z',
  subscriber: { id: 's', name: 'Amina', accountNumber: '10000024' },
}

it('is the receipt that has the reference, also when nobody has its money', () => {
  expect(usedReceipt({ code: 'reference_used', details: { receipt } })).toEqual(receipt)
  expect(usedReceipt({ code: 'reference_used', details: { receipt: { ...receipt, subscriber: null } } })?.subscriber).toBeNull()
})

it('is nothing for other problems and for answers that name none', () => {
  expect(usedReceipt({ code: 'reference_used', details: {} })).toBeNull()
  expect(usedReceipt({ code: 'reference_used', details: { receipt: null } })).toBeNull()
  expect(usedReceipt({ code: 'invoice_not_found', details: { receipt } })).toBeNull()
})

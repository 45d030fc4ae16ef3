import { expect, test } from 'vitest'
import { actionName } from './actionName'

test('an action has words; without them its name is spelled out, and a route stays as it is', () => {
  const words = { 'billing.VoidInvoice': 'Voided an invoice' }
  expect(actionName('billing.VoidInvoice', words)).toBe('Voided an invoice')
  expect(actionName('network.ReportFormerSubnets', words)).toBe('Report former subnets')
  expect(actionName('POST /receipts/:id/reverse', words)).toBe('POST /receipts/:id/reverse')
})

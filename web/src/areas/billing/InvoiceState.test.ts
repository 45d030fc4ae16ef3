import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { wordOf } = await import('./InvoiceState')
const { billingText } = await import('../../text/billing')

test('an invoice that a credit note made smaller is not called partly paid before somebody has paid', () => {
  expect(wordOf({ state: 'partially_paid', paid: 0 }, billingText.en)).toBe('Partly given back')
  expect(wordOf({ state: 'partially_paid', paid: 300 }, billingText.en)).toBe('Partly paid')
  expect(wordOf({ state: 'partially_paid', paid: 0 }, billingText.sw)).toBe('Imerudishwa kiasi')
})

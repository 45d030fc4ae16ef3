import { expect, test, vi } from 'vitest'

vi.mock('./updates', () => ({ newVersionWaits: () => false, leave: (open: () => void) => open() }))
const { addressOf, to } = await import('./address')

test('an address is a page with what it is about', () => {
  expect(to('')).toBe('/portal/')
  expect(to('pay', { account: 'a-1', payment: undefined })).toBe('/portal/pay?account=a-1')
  const read = addressOf(new URL('https://acme.test/portal/pay/?account=a-1&payment=p-1'))
  expect(read.page).toBe('pay')
  expect(Object.fromEntries(read.query)).toEqual({ account: 'a-1', payment: 'p-1' })
  expect(addressOf(new URL('https://acme.test/portal/')).page).toBe('')
})

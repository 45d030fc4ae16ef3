import { expect, test } from 'vitest'
import { gatewayForm, gatewayWritten, movesMoney } from './gateway'

const own = {
  mode: 'direct' as const,
  environment: 'production' as const,
  shortcode: '600200',
  consumerKey: '********',
  consumerSecret: '********',
  passkey: '********',
  initiator: '',
  securityCredential: '',
  credentialsVersion: 'a',
  rejectUnknownAccounts: false,
  nominatedNumber: '+254712345678',
  active: true,
  registration: { state: 'registered' as const, error: null, triedAt: '2026-03-02T09:00:00Z', nextTryAt: null, refusal: null },
}

test('a secret that nobody typed goes back hidden, so that it stays', () => {
  const values = { ...gatewayForm(own), passkey: ' new ' }
  expect(gatewayWritten(values, own)).toMatchObject({ consumerKey: '********', passkey: 'new' })
})

test('the nominated number goes as it stands, and an empty one is removed', () => {
  const values = gatewayForm(own)
  expect(gatewayWritten(values, own)).toMatchObject({ nominatedNumber: '+254712345678' })
  expect(gatewayWritten({ ...values, nominatedNumber: ' ' }, own)).toMatchObject({ nominatedNumber: '' })
  expect(movesMoney({ ...values, nominatedNumber: '' }, own)).toBe(false)
})

test('only what changes where money goes is asked about', () => {
  const values = gatewayForm(own)
  expect(movesMoney({ ...values, rejectUnknownAccounts: true }, own)).toBe(false)
  expect(movesMoney({ ...values, consumerKey: 'x' }, own)).toBe(true)
  expect(movesMoney({ ...values, mode: 'centralized' }, own)).toBe(true)
})

test('the platform\'s shortcode never becomes the organization\'s own', () => {
  expect(gatewayForm({ ...own, mode: 'centralized' }).shortcode).toBe('')
})

import { expect, test } from 'vitest'
import { addressTyped } from './portalAddress'

test('what was typed is an e-mail address when it has the sign, else a phone', () => {
  expect(addressTyped(' wanja@home.test ')).toEqual({ email: 'wanja@home.test' })
  expect(addressTyped('0711 000 501')).toEqual({ phone: '0711 000 501' })
})

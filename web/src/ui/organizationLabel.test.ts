import { expect, it } from 'vitest'
import { organizationLabel } from './organizationLabel'

it('tells organizations of the same name apart, and a name turns nothing round', () => {
  expect(organizationLabel({ name: 'Acme', slug: 'acme-two' })).toBe('Acme (acme-two)')
  expect(organizationLabel({ name: 'شبكة', slug: 'shabaka' })).toBe('\u2068شبكة\u2069 (shabaka)')
})

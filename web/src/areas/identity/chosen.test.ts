import { expect, test } from 'vitest'
import { pagesOf, placeAddress } from './chosen'

const at = { protocol: 'http:', host: 'lastmile.test:8080' }

test('who has chosen an organization goes on at its address, customers in the portal', () => {
  const place = { id: 'o-1', slug: 'acme', name: 'Acme', role: 'support' as const }
  expect(placeAddress(place, 't-1', at)).toBe('http://acme.lastmile.test:8080/app/#chosen=o-1/t-1')
  expect(placeAddress({ ...place, role: 'subscriber' }, 't-1', at)).toBe('http://acme.lastmile.test:8080/portal/#chosen=o-1/t-1')
})

test('each role has its pages', () => {
  expect(['subscriber', 'support', 'admin', 'super_admin'].map(pagesOf)).toEqual(['/portal/', '/app/', '/app/', '/app/'])
})

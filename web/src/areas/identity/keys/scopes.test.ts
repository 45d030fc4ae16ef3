import { expect, test } from 'vitest'
import { linesOf, resourcesOf, scopesOf } from './scopes'

const all = [
  { scope: 'invoices:read', roles: ['admin', 'support'] },
  { scope: 'invoices:write', roles: ['admin'] },
  { scope: 'outbox:read', roles: ['admin'] },
  { scope: 'receipt-inquiries:write', roles: ['admin', 'support'] },
]

test('a role has the resources that something of is open to it', () => {
  expect(resourcesOf(all, 'admin').map((r) => r.name)).toEqual(['invoices', 'outbox', 'receipt-inquiries'])
  expect(resourcesOf(all, 'support')).toEqual([
    { name: 'invoices', read: true, write: false }, { name: 'receipt-inquiries', read: false, write: true },
  ])
})

test('who may change may read, and what another role could do is not asked for', () => {
  const chosen = { invoices: 'write', outbox: 'read' } as const
  expect(scopesOf(chosen, resourcesOf(all, 'admin'))).toEqual(['invoices:write', 'outbox:read'])
  expect(scopesOf(chosen, resourcesOf(all, 'support'))).toEqual(['invoices:read'])
  expect(scopesOf({}, resourcesOf(all, 'admin'))).toEqual([])
})

test('addresses stand in lines or behind commas', () => {
  expect(linesOf(' 196.201.214.0/24\n\n2001:db8::1, 10.0.0.1 ')).toEqual(['196.201.214.0/24', '2001:db8::1', '10.0.0.1'])
})

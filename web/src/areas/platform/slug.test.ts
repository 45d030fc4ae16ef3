import { expect, test } from 'vitest'
import { isSlug, slugFor } from './slug'

test('a short name is proposed from any name, and what is proposed is one', () => {
  expect(slugFor('Acme Networks Ltd.')).toBe('acme-networks-ltd')
  expect(slugFor('Réseau d’Été')).toBe('reseau-d-ete')
  expect(slugFor('مزود')).toBe('')
  expect(isSlug(slugFor(`${'long '.repeat(30)}`))).toBe(true)
})

test('what is no label of a host name is no short name', () => {
  expect(['acme', 'a', 'a-1'].every(isSlug)).toBe(true)
  expect(['', '-a', 'a-', 'A', 'a.b', 'a b', 'x'.repeat(64)].some(isSlug)).toBe(false)
})

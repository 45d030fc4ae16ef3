import { expect, test } from 'vitest'
import { choiceOf, conditionOf, filtersOf, kindName, toneOf } from './words'

test('a device is online, offline, or silent', () => {
  expect(conditionOf({ online: true, stale: false })).toBe('online')
  expect(conditionOf({ online: false, stale: false })).toBe('offline')
  expect(conditionOf({ online: false, stale: true })).toBe('stale')
  expect(toneOf('stale')).toBe('bad')
})

test('a choice of the condition stands in the address and is read back', () => {
  for (const c of ['online', 'offline', 'stale', undefined] as const) expect(choiceOf(filtersOf(c))).toBe(c)
})

test('a device is named by what it has told', () => {
  expect(kindName({ manufacturer: 'Acme', model: 'HG-8' })).toBe('Acme HG-8')
  expect(kindName({ manufacturer: null, model: 'HG-8' })).toBe('HG-8')
  expect(kindName({ manufacturer: null, model: null })).toBeNull()
})

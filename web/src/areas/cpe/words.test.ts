import { expect, test } from 'vitest'
import { choiceOf, conditionOf, filtersOf, goesOn, kindName, modelsOf, stepsOf, toneOf } from './words'

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

test('the steps of an operation are those that are done and those that are not', () => {
  const steps = [{ name: 'register', done: true }, { name: 'vlan', done: false }, { name: 'tags', done: false }] as const
  expect(stepsOf({ steps: [...steps] })).toEqual({ done: ['register'], left: ['vlan', 'tags'] })
  expect(stepsOf({ steps: [] })).toEqual({ done: [], left: [] })
})

test('a write goes on until it has ended', () => {
  expect((['queued', 'sent', 'confirmed', 'failed', 'expired'] as const).filter((state) => goesOn({ state }))).toEqual(['queued', 'sent'])
})

test('each model of some devices is offered once', () => {
  expect(modelsOf([{ model: 'HG-8' }, { model: null }, { model: 'Box' }, { model: 'HG-8' }])).toEqual(['Box', 'HG-8'])
})

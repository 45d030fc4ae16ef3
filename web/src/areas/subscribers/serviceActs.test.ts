import { expect, test } from 'vitest'
import { serviceActs } from './serviceActs'

const cap = { bytes: 5e9, period: 'month', then: 'stop' } as const
const always = ['credentials', 'new_credentials', 'addresses']

test.each([
  ['active', cap, false, [...always, 'top_up', 'extra', 'place', 'change_plan', 'pause', 'end']],
  ['active', null, false, [...always, 'extra', 'place', 'change_plan', 'pause', 'end']],
  ['active', null, true, [...always, 'extra', 'move', 'lift', 'change_plan', 'pause', 'end']],
  ['paused', cap, false, [...always, 'extra', 'place', 'resume', 'end']],
  ['pending', cap, false, [...always, 'extra', 'place', 'change_plan', 'end']],
  ['ended', cap, true, []],
] as const)('a service that is %s, with the cap %j and on hold: %s', (state, cap, held, acts) => {
  expect(serviceActs({ state, cap }, held)).toEqual(acts)
})

test('nothing is offered about a hold while it is not known whether there is one', () => {
  expect(serviceActs({ state: 'active', cap: null }, null)).toEqual([...always, 'extra', 'change_plan', 'pause', 'end'])
})

import { expect, test } from 'vitest'
import { cutTimeOf, inOrder, type Policy, readDays, stepsOf, stretchesOf, withCutTime } from './policy'

const usual: Policy = {
  reminderDays: [-7, -3, 0], graceDays: 3, walledGardenDays: 7, writeOffDays: 60, minimumDue: 50,
  noCutDays: ['saturday', 'sunday'], noCutAfter: { friday: '16:00' }, skipHolidays: true,
  messageHours: { from: '08:00', to: '20:00' },
}
const told = (p: Policy) => stepsOf(p).map((s) => `${s.day} ${s.what}`)

test('the steps of the usual policy come in their order', () => {
  expect(told(usual)).toEqual([
    '-7 reminder', '-3 reminder', '0 reminder', '0 due', '3 walled_garden', '10 suspended', '60 written_off',
  ])
})

test('a debt that is old enough in the walled garden is given up and not cut off', () => {
  const short = { ...usual, reminderDays: [], writeOffDays: 5 }
  expect(told(short)).toEqual(['0 due', '3 walled_garden', '10 written_off'])
  expect(stretchesOf(short).map((s) => s.access)).toEqual(['full', 'grace', 'walled_garden'])
})

test('without grace nobody has a stretch of it', () => {
  expect(stretchesOf({ ...usual, graceDays: 0 })).toEqual([
    { access: 'full', days: 7 }, { access: 'walled_garden', days: 7 }, { access: 'none', days: 53 },
  ])
})

test('a weekday has one rule about cuts', () => {
  const free = withCutTime(usual, 'friday', { when: 'always' })
  expect(cutTimeOf(free, 'friday')).toEqual({ when: 'always' })
  const never = withCutTime(usual, 'friday', { when: 'never' })
  expect([never.noCutDays, never.noCutAfter]).toEqual([['friday', 'saturday', 'sunday'], {}])
})

test('days are read as people type them', () => {
  expect(readDays(' 0, -3 −7;-3 ')).toEqual([-7, -3, 0])
  expect(readDays('')).toEqual([])
  expect(readDays('three')).toBeNull()
})

test('the order in which days are given makes no other policy', () => {
  const given = { ...usual, noCutDays: ['sunday', 'saturday'], noCutAfter: { friday: '16:00', monday: '12:00' }, reminderDays: [0, -3, -7] }
  const ordered = { ...usual, noCutAfter: { monday: '12:00', friday: '16:00' } }
  expect(JSON.stringify(inOrder(given))).toBe(JSON.stringify(inOrder(ordered)))
  expect(JSON.stringify(withCutTime(withCutTime(usual, 'friday', { when: 'always' }), 'friday', { when: 'before', time: '16:00' })))
    .toBe(JSON.stringify(inOrder(usual)))
})

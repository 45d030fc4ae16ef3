import { expect, it, test } from 'vitest'
import { dayAfter, instantOf, localOf } from './instant'

test('a local time is one instant of its zone, and back', () => {
  const at = instantOf('2026-11-22T14:05', 'Africa/Nairobi')
  expect(at.toISOString()).toBe('2026-11-22T11:05:00.000Z')
  expect(localOf(at.getTime(), 'Africa/Nairobi')).toBe('2026-11-22T14:05')
})

test('a date begins at its midnight, also where the clocks change on it', () => {
  expect(instantOf('2026-03-29', 'Europe/Berlin').toISOString()).toBe('2026-03-28T23:00:00.000Z')
  expect(instantOf('2026-03-30', 'Europe/Berlin').toISOString()).toBe('2026-03-29T22:00:00.000Z')
})

test('days are counted over the end of a month', () => {
  expect(dayAfter('2026-02-28', 1)).toBe('2026-03-01')
  expect(dayAfter('2026-03-01', -30)).toBe('2026-01-30')
})

it.each([
  ['2026-11-22', 'Africa/Nairobi', '2026-11-22T21:00:00.000Z'],
  ['2026-12-31', 'Africa/Nairobi', '2026-12-31T21:00:00.000Z'],
  ['2026-03-28', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
  ['2026-03-29', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
  ['2026-10-25', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
  ['2026-11-01', 'America/New_York', '2026-11-02T05:00:00.000Z'],
])('%s ends in %s at %s', (date, zone, want) => {
  expect(instantOf(dayAfter(date, 1), zone).toISOString()).toBe(want)
})

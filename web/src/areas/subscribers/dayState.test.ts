import { expect, it } from 'vitest'
import { endOfDay } from './dayState'

it.each([
  ['2026-11-22', 'Africa/Nairobi', '2026-11-22T21:00:00.000Z'],
  ['2026-12-31', 'Africa/Nairobi', '2026-12-31T21:00:00.000Z'],
  ['2026-03-28', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
  ['2026-03-29', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
  ['2026-10-25', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
  ['2026-11-01', 'America/New_York', '2026-11-02T05:00:00.000Z'],
])('%s ends in %s at %s', (date, zone, want) => {
  expect(endOfDay(date, zone).toISOString()).toBe(want)
})

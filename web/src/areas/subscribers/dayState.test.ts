import { expect, it } from 'vitest'
import { type Day, endOfDay, shownState } from './dayState'

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

const day: Day = {
  date: '2026-11-22', state: 'off', paidSeconds: 0, walledGardenSeconds: 0, offSeconds: 0, pausedSeconds: 0, outageSeconds: 0,
  onlineSeconds: 0, bytesIn: 0, bytesOut: 0, events: [],
}

it.each<[string, Partial<Day>, Day['state']]>([
  ['a moment before the first payment', { offSeconds: 1, paidSeconds: 80_000 }, 'paid'],
  ['an hour without', { offSeconds: 3600, paidSeconds: 80_000 }, 'off'],
  ['walled in, then cut', { offSeconds: 900, walledGardenSeconds: 60_000 }, 'off'],
  ['bought just now', { offSeconds: 20 }, 'off'],
  ['nothing yet', { state: 'none' }, 'none'],
])('%s', (_, part, want) => {
  expect(shownState({ ...day, ...part })).toBe(want)
})

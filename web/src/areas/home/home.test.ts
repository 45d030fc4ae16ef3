import { expect, test } from 'vitest'
import { compare, daysBefore, firstOfMonth } from './compare'
import { looked } from './visit'

const minute = 60_000

test('a reload goes on with the visit, an absence begins a new one', () => {
  const first = looked(null, 0)
  expect(first).toEqual({ since: null, seen: 0 })
  const reload = looked(first, 5 * minute)
  expect(reload).toEqual({ since: null, seen: 5 * minute })
  const later = looked(reload, 5 * minute + 31 * minute)
  expect(later).toEqual({ since: 5 * minute, seen: 36 * minute })
  expect(looked(later, 40 * minute).since).toBe(5 * minute)
})

test('a clock that was set back does not make a look older', () => {
  expect(looked({ since: 1, seen: 10 * minute }, 2 * minute)).toEqual({ since: 1, seen: 10 * minute })
})

test('an amount stands to an earlier one', () => {
  expect(compare(150, 100)).toEqual({ kind: 'more', part: 0.5 })
  expect(compare(75, 100)).toEqual({ kind: 'less', part: 0.25 })
  expect(compare(100.2, 100).kind).toBe('same')
  expect(compare(0, 0).kind).toBe('none')
  expect(compare(10, 0).kind).toBe('only')
  expect(compare(10, -5).kind).toBe('only')
})

test('dates go back over the ends of months', () => {
  expect(daysBefore('2028-03-01', 1)).toBe('2028-02-29')
  expect(daysBefore('2027-01-01', 29)).toBe('2026-12-03')
  expect(firstOfMonth('2026-11-22')).toBe('2026-11-01')
})

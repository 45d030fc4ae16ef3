import { expect, test } from 'vitest'
import { isRunning, presets } from './months'

test('spans of months are whole months until today, over the turn of a year too', () => {
  expect(presets('2026-01-31')).toEqual({
    month: { from: '2026-01-01', to: '2026-01-31' },
    lastMonth: { from: '2025-12-01', to: '2025-12-31' },
    year: { from: '2025-02-01', to: '2026-01-31' },
  })
  expect(presets('2024-03-01').lastMonth).toEqual({ from: '2024-02-01', to: '2024-02-29' })
})

test('twelve months are never more days than the API takes', () => {
  for (const today of ['2024-12-31', '2024-02-29', '2025-02-28', '2024-03-31']) {
    const { from, to } = presets(today).year
    expect((Date.parse(to) - Date.parse(from)) / 86_400_000 + 1, today).toBeLessThanOrEqual(366)
  }
})

test('the month of today is not over', () => {
  expect(isRunning({ from: '2026-03-01', to: '2026-03-14' }, '2026-03-14')).toBe(true)
  expect(isRunning({ from: '2026-02-01', to: '2026-02-28' }, '2026-03-01')).toBe(false)
})

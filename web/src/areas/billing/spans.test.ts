import { describe, expect, it } from 'vitest'
import { presets } from './spans'

describe('presets', () => {
  it('begin the week on Monday, also on a Sunday and over the end of a month', () => {
    expect(presets('2026-11-22').week).toEqual({ from: '2026-11-16', to: '2026-11-22' })
    expect(presets('2026-11-23').week).toEqual({ from: '2026-11-23', to: '2026-11-23' })
    expect(presets('2026-12-01').week).toEqual({ from: '2026-11-30', to: '2026-12-01' })
  })

  it('know the last month in January and in March of a leap year', () => {
    expect(presets('2026-01-31').lastMonth).toEqual({ from: '2025-12-01', to: '2025-12-31' })
    expect(presets('2028-03-31').lastMonth).toEqual({ from: '2028-02-01', to: '2028-02-29' })
  })
})

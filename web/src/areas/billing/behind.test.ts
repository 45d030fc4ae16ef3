import { describe, expect, it } from 'vitest'
import type { Shape } from '../../api/types'
import { amountOf, channelOf, type Place, rowsOf, sumOf } from './behind'

const sum = (received: number, takenBack: number) => ({ received, takenBack, total: received - takenBack, count: 1 })
const cash = { channel: 'cash' as const, ...sum(150.5, 107.5) }
// An older balance of an import has no channel.
const none = { channel: '' as 'cash', ...sum(0, 5) }
const jane = { userId: 'jane', name: 'Jane', ...sum(150.5, 107.5), channels: [cash] }
const report: Shape<'CollectionsResponse'> = {
  from: '2026-03-01', to: '2026-03-02', currency: 'KES', ...sum(170.5, 112.5),
  channels: [cash, { channel: 'c2b', ...sum(20, 0) }, none],
  staff: [jane],
  days: [
    { date: '2026-03-01', ...sum(170.5, 0), channels: [{ channel: 'cash', ...sum(150.5, 0) }], staff: [] },
    { date: '2026-03-02', ...sum(0, 107.5), channels: [], staff: [] },
  ],
  suspense: { amount: 0, count: 0 },
}
const span = { from: report.from, to: report.to }

describe('the payments behind a figure of collections', () => {
  it('have the days, the channel, the member of staff and the side of the figure', () => {
    expect(rowsOf(span, { side: 'all' })).toEqual({ from: '2026-03-01', to: '2026-03-02' })
    expect(rowsOf(span, { side: 'takenBack', channel: 'cash', takenBy: 'jane' })).toEqual({
      from: '2026-03-01', to: '2026-03-02', channel: 'cash', takenBy: 'jane', side: 'takenBack',
    })
    expect(rowsOf(span, { side: 'received', on: '2026-03-02' })).toEqual({
      from: '2026-03-02', to: '2026-03-02', side: 'received',
    })
  })

  it('are those of the sum that the report has', () => {
    const found = (of: Place) => {
      const sum = sumOf(report, of)
      return sum && [amountOf(sum, 'received'), amountOf(sum, 'takenBack'), amountOf(sum, 'all')]
    }
    expect(found({})).toEqual([170.5, 112.5, 58])
    expect(found({ on: '2026-03-02' })).toEqual([0, 107.5, -107.5])
    expect(found({ on: '2026-03-01', channel: 'cash' })).toEqual([150.5, 0, 150.5])
    expect(found({ takenBy: 'jane', channel: 'cash' })).toEqual([150.5, 107.5, 43])
    expect(found({ channel: 'none' })).toEqual([0, 5, -5])
    expect(found({ on: '2026-03-03' })).toBeUndefined()
    expect(found({ takenBy: 'joe' })).toBeUndefined()
  })

  it('are found where the channel has no name', () => {
    expect([channelOf(''), channelOf('c2b')]).toEqual(['none', 'c2b'])
  })
})

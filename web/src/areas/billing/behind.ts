import type { Filters } from '../../api/rows'
import type { Shape } from '../../api/types'
import type { channels, sides } from './routes'
import type { Span } from './spans'

/** Place says of what a figure is the sum: a day, a channel, a member of staff; without any, of all. */
export interface Place {
  on?: string
  channel?: (typeof channels)[number]
  takenBy?: string
}

/** Opened is the figure whose payments are listed. */
export interface Opened extends Place {
  side: (typeof sides)[number]
}

/** Sum is one figure of the report with its two sides. */
export interface Sum {
  total: number
  received: number
  takenBack: number
}

/** channelOf names the channel of a sum in the address, where it has to have a name. */
export const channelOf = (channel: string) => (channel === '' ? 'none' : channel) as NonNullable<Place['channel']>

/** rowsOf are the filters of the payments behind a figure. */
export function rowsOf(span: Span, { side, on, channel, takenBy }: Opened): Filters<'/reports/collections/receipts'> {
  return {
    from: on ?? span.from, to: on ?? span.to, channel, takenBy, side: side === 'all' ? undefined : side,
  }
}

/** sumOf finds a figure in the report; nothing where the report has none, as of a day without money. */
export function sumOf(report: Shape<'CollectionsResponse'>, { on, channel, takenBy }: Place): Sum | undefined {
  const days = on === undefined ? report : report.days.find((d) => d.date === on)
  const of = takenBy === undefined ? days : days?.staff.find((s) => s.userId === takenBy)
  return channel === undefined ? of : of?.channels.find((c) => channelOf(c.channel) === channel)
}

/** amountOf is the amount of a figure as a person reads it: what was taken back is positive. */
export const amountOf = (sum: Sum, side: Opened['side']) => (side === 'all' ? sum.total : sum[side])

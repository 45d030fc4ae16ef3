import type { Shape } from '../../api/types'

type Reason = Pick<Shape<'AccessResponse'>['reasons'][number], 'code' | 'subscriptionId'>

// Why somebody has no access whom money brings back.
const forMoney: ReadonlySet<string> = new Set(['overdue', 'suspended', 'expired', 'awaiting_payment'])

/** stillOff says what a payment leaves of somebody without access: money decides nothing, brings it back, or starts it. */
export function stillOff(reasons: Reason[]): 'notMoney' | 'stillOff' | 'notStarted' {
  const first = reasons.find((r) => r.subscriptionId === null) ?? reasons[0]
  if (first && !forMoney.has(first.code)) return 'notMoney'
  const owing = reasons.filter((r) => forMoney.has(r.code))
  return owing.length > 0 && owing.every((r) => r.code === 'awaiting_payment') ? 'notStarted' : 'stillOff'
}

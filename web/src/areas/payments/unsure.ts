import type { Row } from '../../api/rows'

type Prompt = Pick<Row<'/payments'>, 'status' | 'gateway' | 'checkoutRequestId' | 'initiatedAt'>

// The provider names a prompt within seconds, or its answer was lost.
const named = 10_000

/** isUnsure tells of a prompt of which nobody knows whether the phone shows it; nobody can be asked (docs/rules/payments.md). */
export function isUnsure(p: Prompt, now: number): boolean {
  return p.status === 'PENDING' && p.gateway === 'mobile_money_stk' && !p.checkoutRequestId && now - Date.parse(p.initiatedAt) > named
}

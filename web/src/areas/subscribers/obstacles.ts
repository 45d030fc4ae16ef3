import type { Obstacle } from '../../text/forgetting'
import type { Way } from '../../ui/To'

/** wayOf leads to where something can be settled that keeps a customer from being forgotten. */
export function wayOf(open: Obstacle, id: string): Way {
  const of = { subscriberId: id }
  const ways: Record<Obstacle, Way> = {
    forget_balance_owed: { to: '/invoices', search: of },
    forget_credit_left: { to: '/receipts', search: of },
    forget_prompt_open: { to: '/payments', search: { ...of, status: 'PENDING' } },
    forget_refund_open: { to: '/refunds', search: { ...of, open: true } },
    forget_draft_open: { to: '/invoices', search: of }, // a draft of a credit note is on the page of its invoice
    forget_receipt_in_doubt: { to: '/receipts', search: of },
    forget_approval_open: { to: '/approvals', search: of },
    forget_service_running: { to: `/customers/${id}` },
  }
  return ways[open]
}

import type { Row } from '../../api/rows'

type Entry = Row<'/subscribers/{id}/timeline'>

/** Step is what the rule below looks at of a row of the timeline. */
export type Step = Pick<Entry, 'eventId' | 'at' | 'code' | 'facts' | 'cause'> & { actor: Pick<Entry['actor'], 'kind'> }

/** Paid is a payment with all that it did, the newest first as in the list. */
export interface Paid<E> {
  credit: E
  amount: number
  steps: E[]
}

type Codes = ReadonlySet<Entry['code']>

// What is told of the same payment, or of its receipt, before the money is on the account.
const before: Codes = new Set([
  'prompt_opened', 'payment_asked_for', 'prompt_paid', 'prompt_closed', 'prompt_receipt_arrived', 'payment_matched', 'receipt_arrived',
])

// What follows by itself once it is there.
const after: Codes = new Set([
  'invoice_allocated', 'invoice_paid', 'credit_left', 'subscription_started', 'subscription_extended', 'access_restored', 'cut_ended',
  'dunning_ended', 'dunning_ended_with_cut',
])

// What gives money back or takes it off, after which credit left and invoices paid are no more the payment's doing.
const ends: Codes = new Set([
  'credit_note_drafted', 'credit_note_issued', 'credit_note_voided', 'invoice_voided', 'invoice_cancelled', 'invoice_reopened',
  'allocation_withdrawn', 'payment_withdrawn', 'payment_reversed', 'payment_moved_away', 'period_withdrawn', 'refund_set_aside',
  'refund_failed', 'refund_paid_out', 'debt_written_off', 'invoice_written_off', 'recovery_withdrawn',
])

const minute = 60_000

const timeOf = (e: Step) => Date.parse(e.at)
const near = (a: Step, b: Step) => Math.abs(timeOf(a) - timeOf(b)) <= minute

/**
 * grouped puts the rows that one payment made under one entry, where the newest of them stood. Only those are its steps
 * that name the same payment or receipt, or follow from it within a minute and before money is given back or taken off;
 * no row is left out.
 */
export function grouped<E extends Step>(rows: E[]): (E | Paid<E>)[] {
  const paid = new Map<string, Paid<E>>()
  for (const e of rows) {
    if (e.code === 'payment_credited' && e.facts.amount !== undefined) paid.set(e.eventId, { credit: e, amount: e.facts.amount, steps: [] })
  }
  const all = [...paid.values()]
  const payments = paymentsOf(rows, all)
  const cause = new Map<E, Paid<E>>()
  // From the oldest on, so that what follows belongs to the payment that came last.
  let last: Paid<E> | undefined
  for (const e of [...rows].reverse()) {
    last = paid.get(e.eventId) ?? (ends.has(e.code) ? undefined : last)
    const of = paid.get(e.eventId) ?? (before.has(e.code) ? ledTo(e, all, payments) : follows(e, last))
    if (of) cause.set(e, of)
  }
  for (const e of rows) cause.get(e)?.steps.push(e)
  return rows.flatMap((e): (E | Paid<E>)[] => {
    const of = cause.get(e)
    if (!of || of.steps.length < 2) return [e]
    return of.steps[0] === e ? [of] : []
  })
}

/** paymentsOf finds the prompt that brought each payment: the nearest one of its amount. */
function paymentsOf<E extends Step>(rows: E[], paid: Paid<E>[]): Map<string, Paid<E>> {
  const prompts = rows.filter((e) => e.code === 'prompt_paid' && e.cause.type === 'payment')
  const found = new Map<string, Paid<E>>()
  for (const of of paid.filter((p) => p.credit.facts.channel === 'stk')) {
    const far = (e: E) => Math.abs(timeOf(e) - timeOf(of.credit))
    const fit = prompts.filter((e) => e.facts.amount === of.amount && near(e, of.credit) && !found.has(e.cause.id))
    const nearest = fit.sort((a, b) => far(a) - far(b))[0]
    if (nearest) found.set(nearest.cause.id, of)
  }
  return found
}

function ledTo<E extends Step>(e: E, paid: Paid<E>[], payments: Map<string, Paid<E>>): Paid<E> | undefined {
  const of = e.cause.type === 'payment'
    ? payments.get(e.cause.id)
    : paid.find((p) => p.credit.cause.type === e.cause.type && p.credit.cause.id === e.cause.id)
  return of && near(e, of.credit) ? of : undefined
}

function follows<E extends Step>(e: E, last: Paid<E> | undefined): Paid<E> | undefined {
  if (!last || !after.has(e.code) || !near(e, last.credit)) return undefined
  // What a person does within the same minute is an act of its own, unless it is the taking of the money itself.
  return e.actor.kind === 'process' || e.at === last.credit.at ? last : undefined
}

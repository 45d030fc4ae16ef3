import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import { serverNow } from '../../app/clock'
import { answersText, type Spoken } from '../../text/answers'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import type { Answer } from './answer'
import { billOf, priceOf } from './bill'
import { letInBy } from './letIn'

/** Around is what stands below the sentence of an answer. */
interface Around {
  heldUntil: string
  /** reason is why somebody did it, in that person's words; empty where the program did. */
  reason: string
  /** session is where the customer is online. */
  session: string
}

// What people do by hand, with a reason.
const byHand = ['blocked', 'paused', 'ended']

/**
 * useSpoken writes what the sentences of an answer are about, in the person's language and the organization's zone. called
 * is the name of the service among several; empty = its plan.
 */
export function useSpoken(id: string, a: Answer, called: string): Spoken & Around {
  const t = useText(answersText)
  const f = useFormat()
  const invoices = useInvoices(id)
  const open = invoices.filter(isOpen).reverse()
  const bill = open.find((i) => i.id === a.cause?.id) ?? open.find((i) => i.subscriptionId === a.subscriptionId)
  const told = useRows('/subscribers/{id}/timeline', {}, { path: { id }, enabled: byHand.includes(a.code) || a.code === 'coming_back' })
  const why = byHand.includes(a.code) ? told.rows.find((e) => e.eventId === a.cause?.id) : undefined
  // Whose invoice was voided or given back starts with the price all the same; the server knows it.
  const starts = a.code === 'awaiting_payment' || a.code === 'expired'
  const customer = api.useQuery('get', '/subscribers/{id}', { params: { path: { id } } }, { enabled: starts || a.owed > 0 })
  const starting = starts && !bill ? customer.data?.toRenew?.find((s) => s.subscriptionId === a.subscriptionId) : undefined
  const dunning = a.service?.dunning
  const paidUntil = a.service?.paidUntil
  const outage = a.service?.outage
  const heard = a.service?.heard
  const unheard = a.service?.notHeard
  const asked = bill?.number ? billOf(t, { ...bill, number: bill.number }, dunning?.overdueDays ?? 0, f) : null
  const price = starting && customer.data ? priceOf(t, { price: starting.price, left: starting.due, currency: customer.data.currency }, f) : ''
  const at = (instant: string | null | undefined) => (instant ? f.short(instant) : t.unknownTime)
  return {
    since: at(a.since),
    plan: called || (a.service?.planName ?? ''),
    until: paidUntil ? f.short(paidUntil) : '',
    ahead: paidUntil && Date.parse(paidUntil) > serverNow() ? f.short(paidUntil) : '',
    bill: asked?.bill ?? (price || t.someBill),
    unpaid: asked?.unpaid ?? t.overdue(t.someBill, dunning?.overdueDays ?? 0),
    asked: asked?.bill ?? price,
    invoiced: asked !== null,
    // Paid time that was taken away ended when it was, and not at the end of what is left of it.
    lost: Boolean(a.since && paidUntil && Date.parse(a.since) > Date.parse(paidUntil)),
    owed: a.owed > 0 && customer.data ? f.money(a.owed, customer.data.currency) : '',
    letIn: a.code === 'coming_back' ? letInBy(a, told.rows) : null,
    graced: a.also.includes('grace_runs'),
    router: a.router?.name ?? t.aRouter,
    next: dunning?.next ? t.next(t.comes[dunning.next.state] ?? dunning.next.state, `${at(dunning.next.at)} (${f.relative(dunning.next.at, serverNow())})`) : '',
    login: a.service?.username ?? '',
    heard: heard ? t.heard(heard.deviceName ?? t.aRouter, f.relative(heard.at, serverNow())) : unheard ? t.notHeard(at(unheard.since)) : '',
    out: outage?.deviceName ?? t.aRouter,
    outSince: at(outage?.since),
    heldUntil: at(dunning?.hold?.until),
    reason: why?.reason ? t.because(why.reason, why.actor.name ?? '') : '',
    session: a.session ? t.session(a.session.deviceName ?? t.aRouter, f.relative(a.session.startedAt, serverNow()), a.session.ipAddress ?? '') : '',
  }
}

// isOpen keeps the invoices that have something due.
const isOpen = (i: Pick<Row<'/invoices'>, 'due' | 'state'>) => i.due > 0 && i.state !== 'draft'

/** useInvoices gives the invoices of a customer, the newest first. */
export function useInvoices(id: string) {
  const read = api.useQuery('get', '/invoices', { params: { query: { subscriberId: id, limit: 50 } } })
  return read.data?.data ?? []
}

import { api } from '../../api/client'
import { useRows } from '../../api/rows'
import { serverNow } from '../../app/clock'
import { answersText, type Spoken } from '../../text/answers'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import type { Answer } from './answer'
import { billOf } from './bill'

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

/** useSpoken writes what the sentences of an answer are about, in the person's language and the organization's zone. */
export function useSpoken(id: string, a: Answer): Spoken & Around {
  const t = useText(answersText)
  const f = useFormat()
  const open = useOpenInvoices(id)
  const bill = open.find((i) => i.id === a.cause?.id) ?? open.find((i) => i.subscriptionId === a.subscriptionId)
  const told = useRows('/subscribers/{id}/timeline', {}, { path: { id }, enabled: byHand.includes(a.code) })
  const why = byHand.includes(a.code) ? told.rows.find((e) => e.eventId === a.cause?.id) : undefined
  // Whose first invoice was voided or given back starts with the price all the same.
  const sold = useRows('/subscriptions', { subscriberId: id }, { enabled: a.code === 'awaiting_payment' })
  const first = a.code === 'awaiting_payment' ? sold.rows.find((s) => s.id === a.subscriptionId) : undefined
  const dunning = a.service?.dunning
  const paidUntil = a.service?.paidUntil
  const outage = a.service?.outage
  const heard = a.service?.heard
  const unheard = a.service?.notHeard
  const asked = bill?.number ? billOf(t, { ...bill, number: bill.number }, dunning?.overdueDays ?? 0, f) : null
  const price = first ? t.price(f.money(first.price, first.currency)) : t.someBill
  const at = (instant: string | null | undefined) => (instant ? f.short(instant) : t.unknownTime)
  return {
    since: at(a.since),
    plan: a.service?.planName ?? '',
    until: paidUntil ? f.short(paidUntil) : '',
    ahead: paidUntil && Date.parse(paidUntil) > serverNow() ? f.short(paidUntil) : '',
    bill: asked?.bill ?? price,
    unpaid: asked?.unpaid ?? t.overdue(price, dunning?.overdueDays ?? 0),
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

/** useOpenInvoices gives the invoices that have something due, the oldest first. */
export function useOpenInvoices(id: string) {
  const read = api.useQuery('get', '/invoices', { params: { query: { subscriberId: id, limit: 50 } } })
  return (read.data?.data ?? []).filter((i) => i.due > 0 && i.state !== 'draft').reverse()
}

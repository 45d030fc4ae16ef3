import type { Row } from '../api/rows'
import { type Answer, type AnswerCode, helpOf } from '../areas/subscribers/answer'
import type { Format } from '../text/format'
import type { OwnCode, OwnSpoken, portalAnswersText } from '../text/portalAnswers'
import type { Account } from './accounts'

type Words = typeof portalAnswersText.en
type Invoice = Pick<Row<'/invoices'>, 'id' | 'number' | 'total' | 'due' | 'currency' | 'state' | 'subscriptionId' | 'order'>

/** Facts are what the sentences about a service are made of. */
export interface Facts {
  account: Pick<Account, 'currency' | 'toRenew'>
  /** invoices are those of the account, the newest first. */
  invoices: Invoice[]
  now: number
}

/** isOpen keeps the invoices on which something is to be paid. */
export const isOpen = (i: Pick<Invoice, 'due' | 'state'>) => i.due > 0 && i.state !== 'draft'

/** said gives the sentence about a service, and what the customer can do. */
export function said(a: Answer, facts: Facts, t: Words, f: Pick<Format, 'money' | 'short'>): { sentence: string; help: string } {
  const spoken = spokenOf(a, facts, t, f)
  const says = (code: AnswerCode) => (t.says as Partial<Record<AnswerCode, (s: OwnSpoken) => string>>)[code]?.(spoken) ?? ''
  const sentence = [a.code, ...a.also].map(says).join(' ').replace(/ +/g, ' ').trim()
  return { sentence: sentence || t.other, help: helpOf(a).map((code) => t.helps[code as OwnCode]).filter(Boolean).join(' ') }
}

function spokenOf(a: Answer, { account, invoices, now }: Facts, t: Words, f: Pick<Format, 'money' | 'short'>): OwnSpoken {
  const at = (instant: string | null | undefined) => (instant ? f.short(instant) : t.unknownTime)
  const paidUntil = a.service?.paidUntil
  const next = a.service?.dunning?.next
  return {
    since: at(a.since),
    plan: a.service?.planName ?? '',
    until: paidUntil ? f.short(paidUntil) : '',
    ahead: paidUntil && Date.parse(paidUntil) > now ? f.short(paidUntil) : '',
    asked: askedOf(a, account, invoices, t, f),
    next: next ? t.next(t.comes[next.state] ?? next.state, at(next.at)) : '',
    owed: a.owed > 0 ? f.money(a.owed, account.currency) : '',
  }
}

/** askedOf names what a payment for a service is asked for: its oldest open invoice, or the price where none is open. */
function askedOf(a: Answer, account: Facts['account'], invoices: Invoice[], t: Words, f: Pick<Format, 'money'>): string {
  const open = invoices.filter(isOpen).reverse()
  const bill = open.find((i) => i.id === a.cause?.id) ?? open.find((i) => i.subscriptionId === a.subscriptionId)
  if (bill?.number) {
    const total = f.money(bill.total, bill.currency)
    return bill.due < bill.total ? t.rest(f.money(bill.due, bill.currency), bill.number, total) : t.bill(bill.number, total)
  }
  const renewed = account.toRenew.find((s) => s.subscriptionId === a.subscriptionId)
  return renewed && renewed.due > 0 ? t.price(f.money(renewed.price, account.currency)) : ''
}

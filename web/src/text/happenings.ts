import { useCallback } from 'react'
import type { Row } from '../api/rows'
import { inParts, type Language, useLanguage } from './catalogue'
import { type Format, useFormat } from './format'
import { ways } from './ways'

type Entry = Row<'/subscribers/{id}/timeline'>
type Code = Entry['code']
type Facts = Entry['facts']

/** Told are the facts of a sentence, already written in the person's language; empty where it has none. */
export interface Told {
  amount: string
  /** off is what a discount takes off: "25 %", or an amount. */
  off: string
  due: string
  /** invoice is "invoice ACME-0123", or one without a number. */
  invoice: string
  /** owed is what was owed at a step: "KES 1,500 of invoice ACME-0123 and 1 other". */
  owed: string
  /** note is "credit note CN-1", or one without a number. */
  note: string
  /** by is the way of a payment, with a space before it. */
  by: string
  plan: string
  period: string
  used: string
  allowed: string
  bytes: string
  days: string
  from: string
  until: string
  cause: string
  difference: string
  reason: string
  message: string
  /** act is what needs a second person. */
  act: string
  fault: string
}

/** Words are the parts of sentences that a code stands for. */
export interface Words {
  invoice: (number: string) => string
  note: (number: string) => string
  owed: (amount: string, invoice: string, others: number) => string
  nextPeriod: string
  days: (n: number) => string
  by: Record<NonNullable<Facts['channel']>, string>
  periods: Record<NonNullable<Facts['period']>, string>
  causes: Record<string, string>
  differences: Record<NonNullable<Facts['difference']>, string>
  reasons: Record<NonNullable<Facts['reason']>, string>
  messages: Record<NonNullable<Facts['message']>, string>
  acts: Record<NonNullable<Facts['act']>, string>
  faults: Record<string, string>
}

/** Says has a sentence for each code. */
export type Says = Record<Code, (s: Told) => string>

const en: Says = {
  subscriber_registered: () => 'The customer was added.',
  approval_requested: (s) => `A second person has to agree to ${s.act} of ${s.amount}.`,
  approval_granted: (s) => `A second person agreed to ${s.act} of ${s.amount}.`,
  approval_refused: (s) => `A second person did not agree to ${s.act} of ${s.amount}.`,
  approval_withdrawn: (s) => `Who had asked for ${s.act} of ${s.amount} does not want it any more.`,
  approval_expired: (s) => `Nobody agreed in time to ${s.act} of ${s.amount}.`,
  approval_failed: (s) => `A second person agreed to ${s.act} of ${s.amount}, but it could not be done any more.`,
  subscriber_corrected: () => 'The customer’s details were changed.',
  subscriber_blocked: () => 'The customer was blocked.',
  subscriber_unblocked: () => 'The customer was unblocked.',
  subscriber_forgotten: () => 'The customer’s personal details were erased.',
  portal_access_given: () => 'Somebody sees this customer in the portal now.',
  portal_access_ended: () => 'Somebody does not see this customer in the portal any more.',
  subscription_created: (s) => `The plan ${s.plan} was added.`,
  period_due: () => 'A period fell due for invoicing.',
  subscription_started: () => 'The subscription started.',
  paid_time_carried_over: (s) => `The subscription came with paid time until ${s.until}.`,
  subscription_extended: () => 'The subscription was extended by a paid period.',
  period_withdrawn: () => 'A paid period was taken back, because its payment was.',
  period_never_began: () => 'A period was cancelled before it was served: its invoice is no longer owed.',
  period_undone: () => 'A period was taken back with its billing run: no invoice until somebody asks for one.',
  period_reissued: () => 'The invoice of a period was replaced by a corrected one.',
  period_cancelled: () => 'A period was cancelled: its invoice is no longer owed.',
  subscription_paused: () => 'The subscription was paused.',
  billing_suspended: () => 'Nothing more is billed while the service is cut off.',
  billing_resumed: () => 'The service is billed again.',
  billing_resumed_missed: (s) => `The service is billed again. The time from ${s.from} to ${s.until} is not billed.`,
  days_bought: (s) => `A part of the price bought ${s.days}.`,
  subscription_resumed: () => 'The subscription was resumed.',
  subscription_ended: () => 'The subscription was ended.',
  plan_changed: (s) => `The plan was changed to ${s.plan}.`,
  plan_change_planned: (s) => `The plan changes to ${s.plan} with the next period.`,
  plan_change_dropped: (s) => `The plan stays ${s.plan}: the planned change was dropped.`,
  compensated_days: (s) => `${s.days} were added to the paid time, for a time without service from ${s.from} to ${s.until}.`,
  compensation_taken_back: (s) => `What was given for a time without service from ${s.from} to ${s.until} was taken back.`,
  compensated_money: (s) => `Money comes back by a credit note, for a time without service from ${s.from} to ${s.until}.`,
  charge_added: (s) => `A charge of ${s.amount} goes onto the next invoice.`,
  charges_due: () => 'The charges that were on no invoice yet go onto a last one.',
  charge_removed: (s) => `A charge of ${s.amount} will not be invoiced.`,
  add_on_added: (s) => `An add-on of ${s.amount} a period was added, from the next invoice on.`,
  add_on_removed: (s) => `An add-on of ${s.amount} a period was removed.`,
  discount_added: (s) => `A discount of ${s.off} was given, from the next invoice on.`,
  discount_removed: (s) => `A discount of ${s.off} was ended.`,
  addresses_assigned: () => 'Devices or address of the subscription were changed.',
  credentials_set: () => 'The login was changed.',
  credentials_shown: () => 'The login was shown to somebody.',
  account_opened: () => 'The account was opened.',
  debt_carried_over: (s) => `${s.amount} was owed before the customer came here.`,
  credit_carried_over: (s) => `${s.amount} was paid ahead before the customer came here.`,
  invoice_drafted: (s) => `An invoice of ${s.amount} was drafted.`,
  invoice_issued: (s) => `${upper(s.invoice)} of ${s.amount} was issued.`,
  invoice_voided: (s) => `${upper(s.invoice)} was voided.`,
  invoice_allocated: (s) => `${s.amount} went to ${s.invoice}; ${s.due} of it is left to pay.`,
  invoice_paid: (s) => `${upper(s.invoice)} was paid in full.`,
  invoice_cancelled: (s) => `${upper(s.invoice)} was given back whole.`,
  allocation_withdrawn: (s) => `${s.amount} was taken from ${s.invoice}; ${s.due} of it is left to pay.`,
  invoice_reopened: (s) => `${upper(s.invoice)} was paid and is due again: ${s.amount}.`,
  payment_credited: (s) => `A payment of ${s.amount}${s.by} came onto the account.`,
  payment_withdrawn: (s) => `A payment of ${s.amount} was taken off the account.`,
  credit_left: (s) => `${s.amount} lies on the account.`,
  credit_note_drafted: (s) => `A credit note of ${s.amount} for ${s.invoice} was drafted.`,
  credit_note_issued: (s) => `${upper(s.note)} of ${s.amount} for ${s.invoice} was issued.`,
  credit_note_voided: (s) => `${upper(s.note)} was voided.`,
  invoice_signed: (s) => `The tax authority has signed ${s.invoice}.`,
  credit_note_signed: (s) => `${upper(s.note)} was signed by the tax authority.`,
  cancellation_due: (s) => `The tax authority has to be told that ${s.invoice} was voided.`,
  cancellation_signed: (s) => `The tax authority has taken note that ${s.invoice} was voided.`,
  invoice_not_signed: (s) => `The tax authority refused to sign ${s.invoice}.`,
  credit_note_not_signed: (s) => `${upper(s.note)} was refused by the tax authority.`,
  cancellation_not_signed: (s) => `The tax authority refused to take note that ${s.invoice} was voided.`,
  invoice_sent_again: (s) => `${upper(s.invoice)} goes to the tax authority again.`,
  credit_note_sent_again: (s) => `${upper(s.note)} goes to the tax authority again.`,
  cancellation_sent_again: (s) => `The tax authority is told again that ${s.invoice} was voided.`,

  bill_sent: (s) => `${upper(s.invoice)} went to the bill manager.`,
  bill_failed: (s) => `${upper(s.invoice)} could not be sent to the bill manager, or not be taken back there.`,
  bill_cancelled: (s) => `The bill manager does not ask for ${s.invoice}, or not any more.`,
  bill_acknowledged: (s) => `The bill manager was told that ${s.amount} for ${s.invoice} are booked.`,
  bill_not_acknowledged: (s) => `The bill manager did not want to know that ${s.amount} for ${s.invoice} are booked.`,
  prompt_opened: (s) => `A payment prompt of ${s.amount} was opened.`,
  prompt_closed: () => 'A payment prompt was closed.',
  refund_requested: (s) => `A refund of ${s.amount} was asked for.`,
  refund_submitted: (s) => `The provider was asked to send ${s.amount} back to the payer.`,
  refund_in_doubt: (s) => `It is not known yet whether ${s.amount} went back to the payer.`,
  refund_approved: (s) => `A refund of ${s.amount} was approved.`,
  refund_completed: (s) => `${s.amount} went back to the payer.`,
  refund_not_paid: (s) => `A refund of ${s.amount} is not paid.`,
  refund_set_aside: (s) => `${s.amount} was set aside for a refund.`,
  refund_failed: (s) => `A refund of ${s.amount} failed.`,
  refund_paid_out: (s) => `A refund of ${s.amount} was paid out.`,
  debt_written_off: (s) => `A debt of ${s.amount} was written off.`,
  invoice_written_off: (s) => `Nothing is due on ${s.invoice} any more: ${s.amount} of it was written off.`,
  write_off_recovered: (s) => `${s.amount} came for ${s.invoice}, which was written off.`,
  recovery_withdrawn: (s) => `${s.amount} was taken from ${s.invoice}, which was written off.`,
  recovery_waived: (s) => `The period of ${s.invoice} that was written off never began: nobody owes anything for it.`,
  payment_asked_for: (s) => `A payment of ${s.amount} was asked for on the phone.`,
  prompt_paid: (s) => `The phone prompt of ${s.amount} was paid.`,
  prompt_receipt_arrived: () => 'The receipt of a paid phone prompt arrived.',
  prompt_known_already: () => 'A paid phone prompt was found to be known already.',
  prompt_paid_elsewhere: (s) => `The money of a phone prompt, ${s.amount}, went to another account.`,
  prompt_cancelled: () => 'The customer refused a phone prompt.',
  prompt_failed: () => 'A phone prompt failed.',
  prompt_expired: () => 'A phone prompt ran out without an answer.',
  payment_matched: (s) => `A payment of ${s.amount}${s.by} was found to be this customer’s.`,
  receipt_arrived: () => 'The real receipt of a payment arrived.',
  payment_known_already: (s) => `A payment of ${s.amount} was found to be one that is known already.`,
  payment_of_another: (s) => `A payment of ${s.amount} was found to be another one’s.`,
  payment_reversed: (s) => `A payment of ${s.amount} was reversed.`,
  payment_moved_away: (s) => `A payment of ${s.amount} was somebody else’s and moved away.`,
  payment_moved_here: (s) => `A payment of ${s.amount} that another account had was moved here.`,
  receipt_disputed: () => 'Another report contradicts a payment on this account. The money stays here until a person has decided.',
  dunning_began: (s) => `The customer is reminded from now on. Owed: ${s.owed}.`,
  cut_ended: (s) => `The cut was ended. Still owed: ${s.owed}.`,
  dunning_reminded: () => 'A reminder to pay was due.',
  walled_garden_entered: (s) => `Not paid in time: ${s.owed}. Only the payment page can be reached.`,
  service_suspended: (s) => `Still not paid: ${s.owed}. There is no access any more.`,
  write_off_withdrawn: (s) => `No write-off is proposed any more. Still not paid: ${s.owed}. There is no access.`,
  write_off_proposed: (s) => `The debt is so old that it was proposed for a write-off: ${s.owed}.`,
  write_off_proposed_with_cut: (s) => `The debt is so old that it was proposed for a write-off: ${s.owed}. There is no access any more.`,
  dunning_ended: () => 'Nothing is overdue any more.',
  dunning_ended_with_cut: () => 'Nothing is overdue any more: the cut was ended.',
  hold_placed: (s) => `A hold stops the clock of what is owed until ${s.until}.`,
  hold_lifted: () => 'The hold was ended: the clock of what is owed goes on.',
  clock_stopped: (s) => `The clock of what is owed stands still since ${s.from}: ${s.cause}.`,
  clock_ran_on: (s) => `The clock of what is owed has run on after all: its stop since ${s.from} (${s.cause}) was taken back.`,
  clock_stood_still: (s) => `The clock of what is owed stood still from ${s.from} to ${s.until}: ${s.cause}.`,
  first_used: () => 'The subscription was used for the first time.',
  first_used_late: (s) => `The subscription was used for the first time, from ${s.from} on.`,
  cap_warned: (s) => `80 % of the traffic of the ${s.period} is used: ${s.used} of ${s.allowed}.`,
  cap_reached_slow: (s) => `The traffic of the ${s.period} is used up: ${s.used} of ${s.allowed}. Access is slow until ${s.until}.`,
  cap_reached_stopped: (s) => `The traffic of the ${s.period} is used up: ${s.used} of ${s.allowed}. There is no access until ${s.until}.`,
  cap_topped_up: (s) => `After a top-up the traffic is not used up any more: ${s.bytes} is left.`,
  cap_changed: () => 'The plan’s traffic has changed and is not used up any more.',
  cap_period_over: (s) => `A new ${s.period} began: the traffic begins anew.`,
  top_up_ordered: (s) => `${s.bytes} of extra traffic was ordered. It is added when its invoice is paid.`,
  top_up_added: (s) => `${s.bytes} of extra traffic was added until ${s.until}.`,
  session_change_lapsed: (s) => `A change of a session came to nothing: ${s.reason}.`,
  session_rate_unverified: (s) => `The router took another speed of a session, which could not be read back: ${s.reason}.`,
  session_rate_changed: (s) => `The speed of a session was changed: ${s.reason}.`,
  session_ended_for_other: (s) => `A session was ended, and the next one gets other access: ${s.reason}.`,
  session_ended: (s) => `A session was ended: ${s.reason}.`,
  session_change_refused: (s) => `The router refused to change a session: ${s.reason}.`,
  difference_opened: (s) => `A difference was found: ${s.difference}.`,
  difference_closed: (s) => `This difference is gone: ${s.difference}.`,
  repair_asked: (s) => `A repair was asked for: ${s.difference}.`,
  address_looked_up: () => 'Somebody was told which address the customer had at a time.',
  cpe_given: () => 'A device of the customer was put down as theirs.',
  cpe_taken: () => 'A device is no longer the customer’s.',
  cpe_written_to: () => 'A change of the customer’s device was asked for.',
  cpe_onu_asked: () => 'The set-up of the customer’s optical end was asked for.',
  support_asked: () => 'The customer asked for support.',
  support_written_down: () => 'A support request of the customer was written down.',
  support_continued: () => 'The customer wrote again about a support request.',
  support_reopened: () => 'The customer wrote about a closed support request and opened it again.',
  support_answered: () => 'A support request was answered.',
  support_noted: () => 'A note for staff was written about a support request.',
  support_assigned: () => 'A support request was given to a member of staff.',
  support_unassigned: () => 'A support request is with no member of staff in particular any more.',
  support_closed: () => 'A support request was closed.',
  message_sent_by_sms: (s) => `The customer was told by SMS: ${s.message}.`,
  message_sent_by_whatsapp: (s) => `The customer was told by WhatsApp: ${s.message}.`,
  message_sent_by_email: (s) => `The customer was told by e-mail: ${s.message}.`,
  message_failed: (s) => `The customer could not be told: ${s.message} (${s.fault}).`,
  message_in_doubt: (s) => `It is not known whether the customer was told: ${s.message}.`,
  message_undelivered: (s) => `The message did not reach the customer: ${s.message} (${s.fault}).`,
  message_dropped: (s) => `The customer was not told any more: ${s.message} (${s.fault}).`,
  access_cut: (s) => `Access was cut: ${s.reason}.`,
  access_blocked: (s) => `Access was blocked: ${s.reason}.`,
  access_restored: (s) => `Access came back: ${s.reason}.`,
  access_paused: (s) => `Access was paused: ${s.reason}.`,
  access_walled_in: (s) => `Only the payment page was left: ${s.reason}.`,
  router_rebooted: () => 'The router was rebooted.',
  service_repaired: () => 'A service on the router was repaired.',
}

const enWords: Words = {
  invoice: (number) => (number ? `invoice ${number}` : 'an invoice'),
  note: (number) => (number ? `credit note ${number}` : 'a credit note'),
  owed: (amount, invoice, others) =>
    `${amount && `${amount} of `}${invoice}${others === 1 ? ' and 1 other' : others > 1 ? ` and ${others} others` : ''}`,
  nextPeriod: 'the next period',
  days: (n) => (n === 1 ? '1 day' : `${n} days`),
  by: ways.en,
  periods: { day: 'day', month: 'month' },
  causes: { no_line: 'the line was down', no_payment: 'payments were down', paused: 'paused' },
  differences: {
    paid_but_offline: 'the customer has paid, and a sign-in was refused or came to nothing',
    paid_but_walled_in: 'the customer has paid, and reaches only the payment page',
    unpaid_but_online: 'the customer is online with more than is paid',
    wrong_rate: 'the session has another speed than it should',
    unknown_session: 'the router has a session of this customer that was not reported',
    stale_session: 'a session that was reported is not on the router',
    local_bypass: 'the customer is online by a login of the router itself',
    port_below_plan: 'the port is slower than the plan',
  },
  reasons: {
    blocked: 'the customer is blocked',
    no_subscription: 'the customer has no subscription',
    ended: 'the subscription has ended',
    paused: 'the subscription is paused',
    not_started: 'the subscription has not begun',
    awaiting_payment: 'the first period is not paid',
    expired: 'the paid time is over',
    paid: 'it is paid',
    postpaid: 'it is paid later, by invoice',
    grace: 'the days of grace run',
    overdue: 'it was not paid in time, and only the payment page is left',
    suspended: 'it was not paid',
    cap_throttled: 'the traffic of the plan is used up',
    cap_stopped: 'the traffic of the plan is used up',
    schedule: 'the plan has another speed at this hour',
    wrong_mac: 'the device is none of those that are let in',
    changed: 'the login or the address is another one',
    operator: 'somebody ended it',
    session_limit: 'more devices were online than the plan allows',
    device_removed: 'its router was removed',
    service: 'its service was removed from the router or made anew',
    rate: 'the plan or the hour gives another speed',
    auditor: 'somebody had a difference at the router repaired',
  },
  messages: {
    reminder_before: 'payment is due soon',
    reminder_due: 'payment is due today',
    reminder_overdue: 'payment is overdue',
    walled_garden: 'only the payment page can be reached',
    suspended: 'there is no access any more',
    restored: 'access is whole again',
    cap_warned: 'most of the traffic is used',
    cap_throttled: 'the traffic is used up, access is slow',
    cap_stopped: 'the traffic is used up, there is no access',
    outage: 'there is an outage where the customer is',
    outage_over: 'the outage is over',
    invoice_signed: 'the tax authority has signed an invoice',
    invoice: 'an invoice was issued',
    receipt: 'money has come',
    support_answer: 'a support request was answered',
    sign_in_code: 'a code to sign in',
    address_code: 'a code for another address of the sign-in',
    address_changed: 'the address of the sign-in was changed',
  },
  acts: {
    compensation: 'a compensation',
    credit_note: 'a credit note',
    import: 'an import with credit',
    reattribution: 'the move of a payment',
    refund: 'a refund',
    reissue: 'a corrected invoice, with a reduction',
    reversal: 'the reversal of a payment',
    void: 'the void of an invoice',
    write_off: 'a write-off',
  },
  faults: {
    expired: 'its time was over',
    no_longer_true: 'it was not true any more',
    not_wanted: 'no such message is wanted any more',
    no_hours: 'the hours of the organization leave no time for messages',
    no_address: 'the customer has neither phone nor e-mail',
    no_gateway: 'no gateway is set up for this way',
    gateway_failed: 'the gateway did not take it in time',
    address_refused: 'there is no such phone or mailbox',
    opted_out: 'the person wants no messages from this sender',
    gateway_refused: 'the gateway refused it',
    template_broken: 'its text cannot be made',
  },
}

/** happeningsText says what happened to a customer. A code without words stops the build. */
export const happeningsText = await inParts({ says: en, words: enWords }, async () => {
  const { says, words } = await import('./happeningsSwahili')
  return { says, words: { ...words, by: ways.sw } }
})

/** Happening is what a row of the timeline tells, and an event of a day. */
interface Happening {
  code: Code
  facts: Facts
  /** summary is the API's own sentence, for a code that is newer than the page. */
  summary: string
}

/** tell writes what happened in a language. */
export function tell(e: Happening, language: Language, f: Format): string {
  const { says, words } = happeningsText[language]
  const say = (says as Partial<Says>)[e.code]
  return say ? say(toldOf(e.facts, words, f)) : e.summary
}

/** useTell gives the function that writes what happened in the person's language. */
export function useTell(): (e: Happening) => string {
  const language = useLanguage()
  const f = useFormat()
  return useCallback((e: Happening) => tell(e, language, f), [language, f])
}

function toldOf(v: Facts, words: Words, f: Format): Told {
  const money = (n?: number) => (n === undefined ? '' : f.money(n, v.currency))
  const at = (instant?: string) => (instant ? `${f.day(instant)}, ${f.time(instant)}` : '')
  const invoice = words.invoice(v.invoice ?? '')
  const amount = money(v.amount)
  return {
    amount, invoice,
    off: v.percent === undefined ? amount : `${v.percent} %`,
    due: money(v.due),
    owed: v.invoices ? words.owed(amount, invoice, v.invoices - 1) : amount || words.nextPeriod,
    note: words.note(v.number ?? ''),
    by: wordOf(words.by, v.channel),
    plan: v.plan ?? '',
    period: wordOf(words.periods, v.period),
    used: f.bytes(v.used ?? 0),
    allowed: f.bytes(v.allowed ?? 0),
    bytes: f.bytes(v.bytes ?? 0),
    days: words.days(v.days ?? 0),
    from: at(v.from),
    until: at(v.until),
    cause: wordOf(words.causes, v.cause),
    difference: wordOf(words.differences, v.difference),
    reason: wordOf(words.reasons, v.reason),
    message: wordOf(words.messages, v.message),
    act: wordOf(words.acts, v.act),
    fault: wordOf(words.faults, v.fault),
  }
}

// One that is newer than the page is shown as the API names it.
function wordOf(words: Partial<Record<string, string>>, code: string | undefined): string {
  return code === undefined ? '' : (words[code] ?? code.replaceAll('_', ' '))
}

const upper = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

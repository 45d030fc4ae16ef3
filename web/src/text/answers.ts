import type { AnswerCode } from '../areas/subscribers/answer'
import type { LetIn } from '../areas/subscribers/letIn'
import { inParts } from './catalogue'

/** Spoken is what the sentences of an answer are about, already written in the person's language. */
export interface Spoken {
  since: string
  plan: string
  /** until is the end of the paid time; empty where there is none. */
  until: string
  /** ahead is the same where it is still to come. */
  ahead: string
  /**
   * bill is "invoice ACME-0123 of KES 1,500", or "KES 1,250 left of" it, or that of which no invoice is known.
   */
  bill: string
  /** unpaid is the bill and since when it is overdue. */
  unpaid: string
  /** asked is what a payment is asked for: the bill, or the price where no invoice is open; empty = neither is known. */
  asked: string
  /** invoiced is whether that is an invoice. */
  invoiced: boolean
  /** lost is whether the paid time ended before its end, since its payment was taken back or moved away. */
  lost: boolean
  /** owed is what is owed for services that have ended; empty = nothing. */
  owed: string
  /** letIn is what gave access a moment ago. */
  letIn: LetIn
  /** graced is whether it is the days of grace that give access. */
  graced: boolean
  router: string
  /** login is the username of the service; empty where it has none. */
  login: string
  /** heard is where the device was heard of last, or since when it was not; empty where that is not known. */
  heard: string
  /** next is what comes if nothing is paid, with its time; empty = nothing. */
  next: string
  /** out is the router of an outage, and outSince when it began. */
  out: string
  outSince: string
}

/** Says has a sentence for each code. */
export type Says = Record<AnswerCode, (s: Spoken) => string>

const enPaid = (s: Spoken) => (s.graced ? 'Still has access' : 'Paid')
const enPaidTo = (s: Spoken) => (s.graced ? 'Still has access' : s.ahead ? `Paid until ${s.ahead}` : 'Payment is in order')
const enAsked = (s: Spoken) => s.asked && `, and ${s.asked} is to be paid`
// Who has no paid time at all had some: its payment or its invoice was taken back.
const enOver = (s: Spoken) => {
  if (s.until && !s.lost) return 'the paid time is over'
  return s.invoiced ? 'the payment for its period was taken back or moved away' : 'no period of it is paid any more'
}
const enLetIn = (s: Spoken) => {
  if (s.letIn === null || (s.letIn === 'paid' && s.graced)) return 'Let in again just now'
  return { paid: 'Paid just now', resumed: 'Resumed just now', unblocked: 'Unblocked just now' }[s.letIn]
}
const enOut = (s: Spoken) => `Also, ${s.out} has not answered since ${s.outSince}: an outage of ours.`

const en: Says = {
  paid: (s) => (s.until ? `Online and paid until ${s.until}.` : 'Online and paid.'),
  postpaid: () => 'Online. Is invoiced while it runs, and nothing is overdue.',
  schedule: () => 'Online. The plan has another speed at this hour.',
  grace: (s) => `Still online, but the paid time ended ${s.until}: the days of grace run${enAsked(s)}. ${s.next}`,
  reminding: (s) => `Payment falls due soon. ${s.next}`,
  cap_throttled: () => 'Online and slow: the traffic of the plan is used up.',
  cap_stopped: (s) => `Offline since ${s.since}: the traffic of the plan is used up.`,
  overdue: (s) => `Only the payment page can be reached since ${s.since} (the “walled garden”): ${s.unpaid}. ${s.next}`,
  suspended: (s) => `Cut off since ${s.since}: ${s.unpaid}.`,
  expired: (s) => `Offline since ${s.since}: ${enOver(s)}${enAsked(s)}.`,
  awaiting_payment: (s) => `Never online yet: ${s.bill} has to be paid in full first.`,
  not_started: (s) => `Not started yet: ${s.plan} begins ${s.since}.`,
  paused: (s) => `Paused since ${s.since}. The clock of what is owed stands still.`,
  ended: (s) => `${s.plan} was ended for good on ${s.since}.`,
  still_owed: (s) => `${s.owed} is still owed.`,
  blocked: (s) => `Blocked by hand since ${s.since}, whatever is paid.`,
  no_subscription: () => 'Has no plan yet, and so no access.',
  unknown_reason: () => 'Why this is so is not known right now.',
  goes_on: () => 'A session still goes on: it is being ended, or its router does not answer.',
  stale: () => 'A session is shown as open that the router does not have any more.',
  directory: () => 'All is right with the customer and the payment. A part of our own program is behind, so sign-ins get something else.',
  unseen: (s) => `${enPaid(s)}. Whether the customer is online cannot be seen now: reports of routers do not arrive.`,
  outage: (s) => `${enPaidTo(s)}, but ${s.router} has not answered since ${s.since}: an outage of ours.`,
  silent: (s) => `${enPaidTo(s)}, but the device is not signed in. ${s.heard}`,
  never_online: (s) => `${enPaidTo(s)}, but the device has never signed in${s.login ? ` as ${s.login}` : ''}.`,
  dial_again: (s) => `Has access again. The device was refused ${s.since}, before that, and has not dialled since.`,
  behind_outage: enOut,
  also_outage: enOut,
  grace_runs: (s) => `The paid time ended ${s.until}: the days of grace run${enAsked(s)}. ${s.next}`,
  coming_back: (s) => `${enLetIn(s)}: full access comes back within seconds.`,
  walled_though_paid: (s) => `${enPaid(s)}, but the session still reaches only the payment page.`,
  no_reports: (s) => `Online by the last report, but ${s.router} has been silent since ${s.since}.`,
  refused_wrong_password: (s) => `${enPaid(s)}, but the device has the wrong password (refused ${s.since}, at ${s.router}).`,
  refused_unknown_user: (s) => `${enPaid(s)}, but the device has an old username (refused ${s.since}, at ${s.router}).`,
  refused_no_proof: (s) => `${enPaid(s)}, but the device sends no password that can be checked (refused ${s.since}).`,
  refused_bad_request: (s) => `${enPaid(s)}, but sign-ins arrive broken from ${s.router} (refused ${s.since}).`,
  refused_wrong_mac: (s) => `${enPaid(s)}, but another device than the registered one dials (refused ${s.since}).`,
  refused_session_limit: (s) => `${enPaid(s)}, but as many devices are online as the plan allows (refused ${s.since}).`,
  refused_no_session: (s) => `${s.graced ? 'Still let in' : 'Paid and let in'}, but ${s.router} gives it no session (last tried ${s.since}).`,
  refused_too_many_codes: (s) => `${enPaid(s)}, but too many wrong passwords were tried: sign-ins rest for some minutes (since ${s.since}).`,
  refused_wrong_secret: (s) => `${enPaid(s)}, but nobody can sign in at ${s.router}: its RADIUS secret is another one.`,
  refused_secret_doubtful: (s) => `${enPaid(s)}, but passwords arrive as nonsense from ${s.router}: its RADIUS secret is probably another one.`,
  refused_unproven: (s) => `${enPaid(s)}, but ${s.router} does not prove its requests.`,
  refused_unknown_nas: (s) => `${enPaid(s)}, but the request comes from an address that belongs to no router of ours.`,
  refused_malformed: (s) => `${enPaid(s)}, but what ${s.router} sends cannot be read.`,
  refused_over_limit: (s) => `${enPaid(s)}, but ${s.router} asks more often than it may.`,
  differs_paid_but_walled_in: (s) => `${enPaid(s)}, but ${s.router} still keeps the customer on the payment page since ${s.since}.`,
  differs_unpaid_but_online: (s) => `Has more than is paid for at ${s.router} since ${s.since}.`,
  differs_wrong_rate: (s) => `Online, but ${s.router} gives another speed than the plan since ${s.since}.`,
  differs_stale_session: (s) => `Shown as online since ${s.since}, but ${s.router} does not have the session.`,
  differs_local_bypass: (s) => `Let in by ${s.router} itself since ${s.since}, past the plan and the payment.`,
  differs_unknown_session: (s) => `Online, but ${s.router} does not report it since ${s.since}. The line works; what is used is not counted.`,
  differs_port_below_plan: (s) => `Online, but the port at ${s.router} is slower than the plan since ${s.since}.`,
}

/** Helps says what helps; nothing has to be done about the other answers. */
export type Helps = Record<Exclude<AnswerCode, Fine>, string>
type Fine = 'paid' | 'postpaid' | 'schedule' | 'reminding' | 'unknown_reason' | 'goes_on' | 'stale' | 'grace_runs'

const enNow: Helps = {
  overdue: 'It comes back within seconds after the payment.',
  suspended: 'It comes back within seconds after the payment.',
  expired: 'It comes back within seconds after the payment; part of it is not enough.',
  awaiting_payment: 'It starts with the payment; part of the price is not enough.',
  grace: 'A payment now keeps it online; a hold gives more days.',
  cap_throttled: 'A top-up brings full speed within seconds.',
  cap_stopped: 'After a top-up the device gets in when it dials again.',
  not_started: 'Nothing has to be done.',
  paused: 'Resume it when the customer wants to go on.',
  ended: 'It needs a new service.',
  still_owed: 'What is owed can be paid as before; that alone brings no access back.',
  no_subscription: 'Add a service.',
  blocked: 'Unblock when what led to it is settled; no payment helps.',
  directory: 'Tell the operator of the platform. Nothing has to be paid or typed again.',
  unseen: 'Ask again in some minutes; if it lasts, look at the router.',
  behind_outage: 'When all is paid it counts at once; the device signs in by itself when the router is back.',
  also_outage: 'The outage is known; no device gets in there before the router is back.',
  outage: 'It is known. Nothing has to be done at the customer’s; the device signs in by itself when the router is back.',
  silent: 'Ask the customer to switch the device off and on, and to check cable and power.',
  never_online: 'Tell the customer the login that the device needs; then check cable and power.',
  dial_again: 'Ask the customer to switch the device off and on.',
  coming_back: 'Wait some seconds.',
  walled_though_paid: 'End the session: the device dials again and gets full access.',
  no_reports: 'Look at the router: power, uplink, tunnel.',
  refused_wrong_password: 'Tell the customer the login, or set a new password.',
  refused_unknown_user: 'Tell the customer the present login.',
  refused_no_proof: 'The device must be set to PAP, CHAP or MS-CHAP.',
  refused_bad_request: "Look at the router's configuration.",
  refused_wrong_mac: 'Let the new device in, or ask for the registered one.',
  refused_session_limit: 'Ask to sign out elsewhere, or end the old session.',
  refused_no_session: "Look at the router's log: a pool may be missing, or its secret is another one.",
  refused_too_many_codes: 'Look for another device with an old password; then try again in some minutes.',
  refused_wrong_secret: 'Run the bootstrap script on the router again.',
  refused_secret_doubtful: 'Run the bootstrap script on the router again.',
  refused_unproven: 'Update the router, or bring up its tunnel.',
  refused_unknown_nas: "Check the router's tunnel and its address.",
  refused_malformed: "Look at the router's software.",
  refused_over_limit: 'Wait a minute; look for a loop.',
  differs_paid_but_walled_in: 'Repair it: the session ends, and the device dials again.',
  differs_unpaid_but_online: 'The program ends it by itself within minutes; a repair does it at once.',
  differs_wrong_rate: 'A repair takes a minute without internet, then the speed is right.',
  differs_stale_session: 'A repair takes it from the list.',
  differs_local_bypass: 'Ask who made it. A repair disables it and ends the session.',
  differs_unknown_session: "Check the router's accounting; do not end the session.",
  differs_port_below_plan: 'Look at cable, plug and the other end.',
}

const overdueFor = (days: number) => (days === 1 ? '1 day overdue' : days > 1 ? `${days} days overdue` : 'not paid')

/** english has the texts. */
const english = {
  says: en,
  now: enNow as Partial<Record<AnswerCode, string>>,
  other: (code: string) => `The API gives the reason “${code}”.`,
  bill: (number: string, total: string) => `invoice ${number} of ${total}`,
  billRest: (number: string, total: string, left: string) => `${left} left of invoice ${number} of ${total}`,
  someBill: 'what was invoiced',
  price: (amount: string) => `the price of ${amount}`,
  priceRest: (amount: string, left: string) => `${left} left of the price of ${amount}`,
  named: (service: string, sentence: string) => `${service}: ${sentence}`,
  withLogin: (plan: string, login: string) => `${plan} (${login})`,
  overdue: (bill: string, days: number) => `${bill} is ${overdueFor(days)}`,
  overdueRest: (bill: string, days: number) => `${bill}, ${overdueFor(days)}`,
  comes: { walled_garden: 'only the payment page', suspended: 'cut off', written_off: 'proposed as a write-off', reminding: 'reminders' } as Record<string, string>,
  next: (what: string, at: string) => `Next: ${what}, ${at}.`,
  aRouter: 'the router',
  heard: (router: string, when: string) => `Last heard of at ${router}, ${when}.`,
  notHeard: (since: string) => `Nothing has been heard of it since ${since}.`,
  unknownTime: 'an unknown time',
  held: (until: string) => `The clock stands still until ${until}: a hold.`,
  because: (reason: string, who: string) => `Reason${who ? `, by ${who}` : ''}: “${reason}”.`,
  session: (router: string, since: string, address: string) => `Signed in at ${router} ${since}${address ? `, address ${address}` : ''}.`,
  otherServices: 'Other services',
  /** asked is what helps where only others may do it. */
  asked: {
    blocked: 'No payment helps. Ask an administrator, who has the button “Unblock” on this page, when what led to it is settled.',
  } as Partial<Record<AnswerCode, string>>,
  notYours: 'That is for an administrator to do.',
  customerPays: 'The customer can pay by the paybill or on the payment page.',
  steps: {
    take_payment: 'Take payment', resume: 'Resume', unblock: 'Unblock', add_service: 'Add a service', top_up: 'Add traffic',
    credentials: 'Show the login', addresses: 'Change the devices', disconnect: 'End the session', repair: 'Repair',
    router: 'Open the router', sessions: 'Show sessions',
  },
}

/** Answers are the texts in one language. */
export type Answers = typeof english

/** answersText says why a customer is on or off, and what helps. */
export const answersText = await inParts(english, async () => (await import('./answersSwahili')).answers)

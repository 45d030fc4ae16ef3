import type { AnswerCode } from '../areas/subscribers/answer'
import { catalogue } from './catalogue'

/** OwnSpoken is what the sentences about an own service are filled with, already written in the person's language. */
export interface OwnSpoken {
  since: string
  plan: string
  /** until is the end of the paid time; empty where there is none. */
  until: string
  /** ahead is the same where it is still to come. */
  ahead: string
  /** asked is what a payment is asked for: "invoice ACME-0123 of KES 1,500", or a price; empty = neither is known. */
  asked: string
  /** next is what comes if nothing is paid, with its time; empty = nothing. */
  next: string
  /** owed is what is still owed for a service that has ended. */
  owed: string
}

// What is wrong on the side of the network is seen by staff alone, and an outage is told on the page of outages.
type Hidden = `differs_${string}` | 'outage' | 'behind_outage' | 'also_outage' | 'directory' | 'stale' | 'unseen'

/** OwnCode names a state of a service that customers are told of. */
export type OwnCode = Exclude<AnswerCode, Hidden>

/** OwnSays has a sentence for each state. One without words stops the build. */
type OwnSays = Record<OwnCode, (s: OwnSpoken) => string>

/** OwnHelps says what the customer can do; about the other states nothing has to be done. */
type OwnHelps = Partial<Record<OwnCode, string>>

const enUnpaid = (s: OwnSpoken) => (s.asked ? `${s.asked} is to be paid` : 'a payment is due')
const enPaid = (s: OwnSpoken) => (s.ahead ? `Paid until ${s.ahead}` : 'Your payments are in order')
const enFault = (s: OwnSpoken) => `${enPaid(s)}, but your router was refused ${s.since}. The fault is ours.`
const enLogin = (s: OwnSpoken) => `${enPaid(s)}, but your router signs in with a wrong name or password (refused ${s.since}).`

const enSays: OwnSays = {
  paid: (s) => (s.until ? `Online, and paid until ${s.until}.` : 'Online, and paid.'),
  postpaid: () => 'Online. You get an invoice for what you use, and nothing is overdue.',
  schedule: () => 'Online. Your plan has another speed at this hour.',
  grace: (s) => `Still online, but the paid time ended ${s.until}: ${enUnpaid(s)}. ${s.next}`,
  grace_runs: (s) => `The paid time ended ${s.until}: ${enUnpaid(s)}. ${s.next}`,
  reminding: (s) => `A payment falls due soon. ${s.next}`,
  cap_throttled: () => 'Online and slow: the data of your plan is used up.',
  cap_stopped: (s) => `Off since ${s.since}: the data of your plan is used up.`,
  overdue: (s) => `Off since ${s.since}, but for the pages to pay: ${enUnpaid(s)}. ${s.next}`,
  suspended: (s) => `Off since ${s.since}: ${enUnpaid(s)}.`,
  expired: (s) => `Off since ${s.since}: the paid time is over${s.asked && `, and ${enUnpaid(s)}`}.`,
  awaiting_payment: (s) => `Not started yet: ${enUnpaid(s)} first.`,
  not_started: (s) => `${s.plan} begins ${s.since}.`,
  paused: (s) => `Paused since ${s.since}. The time that you have paid for stands still.`,
  ended: (s) => `${s.plan} has ended ${s.since}.`,
  still_owed: (s) => `${s.owed} is still owed.`,
  blocked: (s) => `Blocked since ${s.since}. A payment alone does not change that.`,
  no_subscription: () => 'You have no plan yet.',
  unknown_reason: () => 'Why this is so is not known right now.',
  goes_on: () => 'You may still be online for a moment.',
  silent: (s) => `${enPaid(s)}, but your router is not online.`,
  never_online: (s) => `${enPaid(s)}, but your router has never been online.`,
  dial_again: () => 'You have access again, but your router has not come back yet.',
  coming_back: () => 'Full access comes back within seconds.',
  walled_though_paid: (s) => `${enPaid(s)}, but your router still reaches only the pages to pay.`,
  no_reports: (s) => `${enPaid(s)}, and online by the last report.`,
  refused_wrong_password: enLogin,
  refused_unknown_user: enLogin,
  refused_no_proof: enLogin,
  refused_too_many_codes: (s) => `${enPaid(s)}, but a wrong password was tried too often: sign-ins rest for some minutes.`,
  refused_wrong_mac: (s) => `${enPaid(s)}, but another device than yours tries to come online (refused ${s.since}).`,
  refused_session_limit: (s) => `${enPaid(s)}, but as many devices are online as your plan allows.`,
  refused_bad_request: enFault,
  refused_no_session: enFault,
  refused_wrong_secret: enFault,
  refused_secret_doubtful: enFault,
  refused_unproven: enFault,
  refused_unknown_nas: enFault,
  refused_malformed: enFault,
  refused_over_limit: enFault,
}

const enSwitch = 'Switch your router off and on, and check its cable and power.'
const enCall = 'Please tell your provider.'

const enHelps: OwnHelps = {
  overdue: 'It comes back within seconds after the payment.',
  suspended: 'It comes back within seconds after the payment.',
  expired: 'It comes back within seconds after the payment; a part of it is not enough.',
  awaiting_payment: 'It starts with the payment; a part of it is not enough.',
  grace: 'A payment now keeps you online.',
  cap_throttled: 'Your provider can add data.',
  cap_stopped: 'Your provider can add data.',
  paused: 'Your provider lets it go on when you want.',
  ended: 'Your provider can add a plan.',
  no_subscription: 'Your provider can add one.',
  blocked: 'Please ask your provider.',
  silent: enSwitch,
  never_online: enSwitch,
  dial_again: enSwitch,
  walled_though_paid: enSwitch,
  refused_wrong_password: enCall,
  refused_unknown_user: enCall,
  refused_no_proof: enCall,
  refused_wrong_mac: 'Your provider can let the new device in.',
  refused_session_limit: 'Switch another device off.',
  refused_bad_request: enCall,
  refused_no_session: enCall,
  refused_wrong_secret: enCall,
  refused_secret_doubtful: enCall,
  refused_unproven: enCall,
  refused_unknown_nas: enCall,
  refused_malformed: enCall,
}

const swUnpaid = (s: OwnSpoken) => (s.asked ? `${s.asked} inapaswa kulipwa` : 'kuna malipo yanayohitajika')
const swPaid = (s: OwnSpoken) => (s.ahead ? `Umelipia hadi ${s.ahead}` : 'Malipo yako yako sawa')
const swFault = (s: OwnSpoken) => `${swPaid(s)}, lakini ruta yako ilikataliwa ${s.since}. Hitilafu ni yetu.`
const swLogin = (s: OwnSpoken) => `${swPaid(s)}, lakini ruta yako inaingia kwa jina au nenosiri lisilo sahihi (ilikataliwa ${s.since}).`

const swSays: OwnSays = {
  paid: (s) => (s.until ? `Uko mtandaoni, umelipia hadi ${s.until}.` : 'Uko mtandaoni, umelipa.'),
  postpaid: () => 'Uko mtandaoni. Unapata ankara ya unachotumia, na hakuna deni lililochelewa.',
  schedule: () => 'Uko mtandaoni. Kifurushi chako kina kasi nyingine saa hii.',
  grace: (s) => `Bado uko mtandaoni, lakini muda uliolipia uliisha ${s.until}: ${swUnpaid(s)}. ${s.next}`,
  grace_runs: (s) => `Muda uliolipia uliisha ${s.until}: ${swUnpaid(s)}. ${s.next}`,
  reminding: (s) => `Malipo yanakaribia kuhitajika. ${s.next}`,
  cap_throttled: () => 'Uko mtandaoni kwa kasi ndogo: data ya kifurushi chako imeisha.',
  cap_stopped: (s) => `Mtandao umezimwa tangu ${s.since}: data ya kifurushi chako imeisha.`,
  overdue: (s) => `Mtandao umezimwa tangu ${s.since}, isipokuwa kurasa za kulipia: ${swUnpaid(s)}. ${s.next}`,
  suspended: (s) => `Mtandao umezimwa tangu ${s.since}: ${swUnpaid(s)}.`,
  expired: (s) => `Mtandao umezimwa tangu ${s.since}: muda uliolipia umeisha${s.asked && `, na ${swUnpaid(s)}`}.`,
  awaiting_payment: (s) => `Bado haijaanza: ${swUnpaid(s)} kwanza.`,
  not_started: (s) => `${s.plan} itaanza ${s.since}.`,
  paused: (s) => `Imesitishwa tangu ${s.since}. Muda uliolipia umesimama.`,
  ended: (s) => `${s.plan} ilimalizika ${s.since}.`,
  still_owed: (s) => `Bado unadaiwa ${s.owed}.`,
  blocked: (s) => `Umezuiwa tangu ${s.since}. Malipo peke yake hayabadilishi hilo.`,
  no_subscription: () => 'Huna kifurushi bado.',
  unknown_reason: () => 'Sababu haijulikani kwa sasa.',
  goes_on: () => 'Huenda bado uko mtandaoni kwa muda mfupi.',
  silent: (s) => `${swPaid(s)}, lakini ruta yako haiko mtandaoni.`,
  never_online: (s) => `${swPaid(s)}, lakini ruta yako haijawahi kuwa mtandaoni.`,
  dial_again: () => 'Umefunguliwa tena, lakini ruta yako bado haijarudi.',
  coming_back: () => 'Mtandao kamili unarudi ndani ya sekunde.',
  walled_though_paid: (s) => `${swPaid(s)}, lakini ruta yako bado inafikia kurasa za kulipia tu.`,
  no_reports: (s) => `${swPaid(s)}, na uko mtandaoni kwa ripoti ya mwisho.`,
  refused_wrong_password: swLogin,
  refused_unknown_user: swLogin,
  refused_no_proof: swLogin,
  refused_too_many_codes: (s) => `${swPaid(s)}, lakini nenosiri lisilo sahihi lilijaribiwa mara nyingi: kuingia kumesimama kwa dakika chache.`,
  refused_wrong_mac: (s) => `${swPaid(s)}, lakini kifaa kisicho chako kinajaribu kuingia (kilikataliwa ${s.since}).`,
  refused_session_limit: (s) => `${swPaid(s)}, lakini vifaa vyote ambavyo kifurushi chako kinaruhusu viko mtandaoni.`,
  refused_bad_request: swFault,
  refused_no_session: swFault,
  refused_wrong_secret: swFault,
  refused_secret_doubtful: swFault,
  refused_unproven: swFault,
  refused_unknown_nas: swFault,
  refused_malformed: swFault,
  refused_over_limit: swFault,
}

const swSwitch = 'Zima ruta yako kisha uiwashe, na ukague waya na umeme.'
const swCall = 'Tafadhali mwambie mtoa huduma wako.'

const swHelps: OwnHelps = {
  overdue: 'Mtandao unarudi ndani ya sekunde baada ya malipo.',
  suspended: 'Mtandao unarudi ndani ya sekunde baada ya malipo.',
  expired: 'Mtandao unarudi ndani ya sekunde baada ya malipo; sehemu yake haitoshi.',
  awaiting_payment: 'Inaanza na malipo; sehemu yake haitoshi.',
  grace: 'Ukilipa sasa unabaki mtandaoni.',
  cap_throttled: 'Mtoa huduma wako anaweza kuongeza data.',
  cap_stopped: 'Mtoa huduma wako anaweza kuongeza data.',
  paused: 'Mtoa huduma wako ataiendeleza ukitaka.',
  ended: 'Mtoa huduma wako anaweza kukuwekea kifurushi.',
  no_subscription: 'Mtoa huduma wako anaweza kukuwekea kimoja.',
  blocked: 'Tafadhali mwulize mtoa huduma wako.',
  silent: swSwitch,
  never_online: swSwitch,
  dial_again: swSwitch,
  walled_though_paid: swSwitch,
  refused_wrong_password: swCall,
  refused_unknown_user: swCall,
  refused_no_proof: swCall,
  refused_wrong_mac: 'Mtoa huduma wako anaweza kukiruhusu kifaa kipya.',
  refused_session_limit: 'Zima kifaa kingine.',
  refused_bad_request: swCall,
  refused_no_session: swCall,
  refused_wrong_secret: swCall,
  refused_secret_doubtful: swCall,
  refused_unproven: swCall,
  refused_unknown_nas: swCall,
  refused_malformed: swCall,
}

/** portalAnswersText says to customers why a service of theirs is on or off, and what they can do. */
export const portalAnswersText = catalogue(
  {
    says: enSays,
    helps: enHelps,
    /** other is said of a state that is newer than the page. */
    other: 'See what is to be paid below.',
    bill: (number: string, total: string) => `invoice ${number} of ${total}`,
    rest: (left: string, number: string, total: string) => `${left} of invoice ${number} (${total})`,
    price: (price: string) => `the price of ${price}`,
    next: (what: string, at: string) => `${what} ${at} if it is not paid.`,
    comes: {
      reminding: 'You are reminded', walled_garden: 'It is switched off', suspended: 'It is cut off', written_off: 'It ends',
    } as Partial<Record<string, string>>,
    named: (plan: string, sentence: string) => `${plan}: ${sentence}`,
    unknownTime: 'some time',
  },
  {
    says: swSays,
    helps: swHelps,
    other: 'Angalia hapa chini kinachopaswa kulipwa.',
    bill: (number, total) => `ankara ${number} ya ${total}`,
    rest: (left, number, total) => `${left} ya ankara ${number} (${total})`,
    price: (price) => `bei ya ${price}`,
    next: (what, at) => `${what} ${at} isipolipwa.`,
    comes: { reminding: 'Utakumbushwa', walled_garden: 'Mtandao utazimwa', suspended: 'Mtandao utakatwa', written_off: 'Utamalizika' },
    named: (plan, sentence) => `${plan}: ${sentence}`,
    unknownTime: 'wakati fulani',
  },
)

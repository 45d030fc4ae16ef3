import type { Row } from '../../api/rows'
import type { Shape } from '../../api/types'
import type { Tone } from '../../ui/State'

type Access = Shape<'AccessResponse'>
type Service = Access['services'][number]
type Reason = Access['reasons'][number]
type Refusal = Access['refusals'][number]
type Session = Service['sessions'][number]
type Difference = Pick<Row<'/access-differences'>, 'id' | 'kind' | 'subscriptionId' | 'deviceId' | 'deviceName' | 'since' | 'actual'>
// What is paid and offline is told by its refusals, or as silent.
type ToldDifference = Exclude<Difference['kind'], 'paid_but_offline'>
// A refusal for want of money and the like says what the reasons say already; those of vouchers are no customer's.
type ImpliedRefusal =
  | 'unpaid' | 'blocked' | 'paused' | 'not_started' | 'ended' | 'cap_reached'
  | 'voucher_used' | 'voucher_void' | 'voucher_moves' | 'voucher_moved'
type ToldRefusal = Exclude<Refusal['code'], ImpliedRefusal>

/** AnswerCode names every sentence of an answer; text/answers.ts has the words, and a missing one stops the build. */
export type AnswerCode =
  | Reason['code'] | `refused_${ToldRefusal}` | `differs_${ToldDifference}`
  | 'reminding' | 'unknown_reason' | 'goes_on' | 'stale' | 'directory' | 'unseen' | 'outage' | 'silent' | 'never_online' | 'dial_again' | 'coming_back'
  | 'walled_though_paid' | 'no_reports' | 'behind_outage' | 'also_outage' | 'grace_runs' | 'still_owed'

/** Step is what helps; each is one button of the page. */
export type Step =
  | 'take_payment' | 'resume' | 'unblock' | 'add_service' | 'top_up' | 'credentials' | 'addresses' | 'disconnect' | 'repair'
  | 'router' | 'sessions'

/** Answer says why one service is as it is, and what helps. */
export interface Answer {
  code: AnswerCode
  tone: Tone
  /** step is null where nothing has to be done, or only people away from this page can do it. */
  step: Step | null
  subscriptionId: string | null
  since: string | null
  cause: Reason['cause'] | null
  service: Service | null
  /** session, differenceId and router are what the step is done to. */
  session: Session | null
  differenceId: string | null
  router: { id: string | null; name: string | null } | null
  /** also has codes of further sentences. */
  also: AnswerCode[]
  /** owed is what is still to be paid for services that have ended; 0 in other answers. */
  owed: number
}

// Routers report every five minutes; a session that was silent for longer is shown and perhaps not there.
const silence = 6 * 60_000
// A device that is refused dials again within minutes. An older refusal tells nothing about now.
const fresh = 60 * 60_000
// A payment reaches the router within seconds; this long it may take.
const settling = 2 * 60_000

const rank: Record<Tone, number> = { bad: 0, attention: 1, quiet: 2, good: 3 }

/**
 * answersOf gives an answer for each service, the one that needs somebody first. due is what the customer is asked to pay:
 * no reason tells it of a service that has ended.
 */
export function answersOf(access: Access, differences: Difference[], now: number, due = 0): Answer[] {
  const whole = access.reasons.find((r) => r.subscriptionId === null)
  if (whole || access.services.length === 0) {
    const code: AnswerCode = whole?.code ?? 'no_subscription'
    const at = access.services.find((s) => s.observed === 'online' || s.observed === 'walled_garden')
    const also: AnswerCode[] = at ? ['goes_on'] : []
    return [{ ...plain(code, code === 'blocked' ? 'bad' : 'quiet', onlyPaid[code] ?? null, at ?? null, whole), also }]
  }
  return access.services
    .map((s) => withDebt(answerOf(s, access, differences, now), due))
    .sort((a, b) => rank[a.tone] - rank[b.tone])
}

/** withDebt asks who has ended for what is owed before anything else: a new service would not end the debt. */
function withDebt(a: Answer, due: number): Answer {
  if (a.code !== 'ended' || due <= 0) return a
  return { ...a, tone: 'attention', step: 'take_payment', also: ['still_owed', ...a.also], owed: due }
}

const onlyPaid: Partial<Record<AnswerCode, Step>> = { blocked: 'unblock', no_subscription: 'add_service' }

// What to do when the reason itself is why somebody has less than everything.
const ofReason: Partial<Record<AnswerCode, [Tone, Step | null]>> = {
  overdue: ['bad', 'take_payment'],
  suspended: ['bad', 'take_payment'],
  expired: ['bad', 'take_payment'],
  awaiting_payment: ['attention', 'take_payment'],
  cap_stopped: ['bad', 'top_up'],
  not_started: ['quiet', null],
  paused: ['quiet', 'resume'],
  ended: ['quiet', 'add_service'],
}

// What a router that does not answer means beside it: who owes pays all the same; who rests has something else to wait for.
const behind: Partial<Record<AnswerCode, AnswerCode>> = {
  overdue: 'behind_outage', suspended: 'behind_outage', expired: 'behind_outage', awaiting_payment: 'behind_outage',
  paused: 'also_outage', not_started: 'also_outage', cap_stopped: 'also_outage',
}

/** helpOf gives the codes whose help is told, in this order. Behind an outage a payment helps otherwise than it would. */
export function helpOf({ code, also }: Pick<Answer, 'code' | 'also'>): AnswerCode[] {
  return also.includes('behind_outage') ? ['behind_outage'] : [code, ...also]
}

// Sentences that say by themselves whose they are.
const namesItself: ReadonlySet<AnswerCode> = new Set<AnswerCode>(['not_started', 'ended'])

/**
 * calledAmong names the service of an answer among those of others, by its plan and, where two have the same, its login.
 * Empty where it is the only one.
 */
export function calledAmong(a: Answer, all: Answer[], t: { withLogin: (plan: string, login: string) => string }): string {
  if (!a.service || all.length < 2) return ''
  const { planName, username } = a.service
  const alike = all.filter((o) => o.service?.planName === planName).length > 1
  return alike && username ? t.withLogin(planName, username) : planName
}

/** isNamed reports whether a sentence needs the name of its service before it. */
export const isNamed = (code: AnswerCode, called: string) => called !== '' && !namesItself.has(code)

// What to do about a sign-in that was refused although everything is paid.
const ofRefusal: Record<ToldRefusal, [Tone, Step | null]> = {
  wrong_password: ['bad', 'credentials'],
  unknown_user: ['bad', 'credentials'],
  no_proof: ['bad', 'credentials'],
  bad_request: ['bad', 'router'],
  wrong_mac: ['bad', 'addresses'],
  session_limit: ['attention', 'sessions'],
  no_session: ['bad', 'router'],
  too_many_codes: ['attention', 'credentials'],
  wrong_secret: ['bad', 'router'],
  secret_doubtful: ['bad', 'router'],
  unproven: ['bad', 'router'],
  unknown_nas: ['bad', 'router'],
  malformed: ['bad', 'router'],
  over_limit: ['attention', 'router'],
}

// What to do about what a router shows, and the repair of it.
const ofDifference: Record<ToldDifference, [Tone, Step | null]> = {
  paid_but_walled_in: ['bad', 'repair'],
  unpaid_but_online: ['attention', 'repair'],
  wrong_rate: ['attention', 'repair'],
  stale_session: ['attention', 'repair'],
  local_bypass: ['attention', 'repair'],
  unknown_session: ['attention', 'router'],
  port_below_plan: ['attention', 'router'],
}

function answerOf(s: Service, access: Access, differences: Difference[], now: number): Answer {
  const reason = access.reasons.find((r) => r.subscriptionId === s.subscriptionId)
  const code: AnswerCode = reason?.code ?? 'unknown_reason'
  const there = s.observed === 'online' || s.observed === 'walled_garden'
  const session = s.sessions.at(0) ?? null
  if (s.entitled === 'none' || s.entitled === 'walled_garden') {
    const [tone, step] = ofReason[code] ?? ['bad', null]
    const more = s.entitled === 'none' ? there : s.observed === 'online'
    const out = s.outage && behind[code]
    return { ...plain(code, tone, step, s, reason), session, also: out ? [out] : more ? ['goes_on'] : [] }
  }
  if (s.difference) return plain('directory', 'bad', null, s, reason)
  const graced: AnswerCode[] = code === 'grace' ? ['grace_runs'] : []
  const about = (c: AnswerCode, tone: Tone, step: Step | null, router: Answer['router']): Answer => ({
    ...plain(c, tone, step, s, reason), session, router, also: graced,
  })
  const at = session && { id: session.deviceId, name: session.deviceName }
  const last = lastRefusal(access.refusals, s, reason, now)
  // Who was refused since is at a router that answers.
  if (s.outage && !(last && last.at > s.outage.since)) {
    return { ...about('outage', 'bad', 'router', { id: s.outage.deviceId, name: s.outage.deviceName }), since: s.outage.since }
  }
  if (s.observed === 'unknown') return about('unseen', 'attention', 'sessions', at)
  const found = differences.filter(isTold).find((d) => d.subscriptionId === s.subscriptionId)
  const shown = found && ofDifference[found.kind]
  if (s.observed === 'offline') {
    const told = last && toldRefusal(last)
    if (last && told) {
      const [tone, step] = ofRefusal[told]
      return { ...about(`refused_${told}`, tone, step, { id: last.deviceId, name: last.deviceName }), since: last.at }
    }
    if (last) {
      if (reason && now - Date.parse(reason.since) < settling) return about('coming_back', 'attention', null, at)
      const router = { id: last.deviceId, name: last.deviceName }
      return { ...about('dial_again', 'attention', code === 'grace' ? 'take_payment' : null, router), since: last.at }
    }
    // A device that never was there does not know its login; one that was away for as long as sessions are kept may have lost it.
    if (s.notHeard?.never) return about('never_online', 'attention', 'credentials', null)
    const stale = shown && found.kind === 'stale_session'
    return { ...about('silent', 'attention', s.notHeard ? 'credentials' : 'sessions', null), also: stale ? ['stale'] : graced }
  }
  if (found && shown) {
    const [tone, step] = shown
    return {
      ...about(`differs_${found.kind}`, tone, step, { id: found.deviceId, name: found.deviceName }),
      since: found.since, differenceId: found.id,
    }
  }
  if (s.observed === 'walled_garden') {
    const soon = reason !== undefined && now - Date.parse(reason.since) < settling
    return soon || !session ? about('coming_back', 'attention', null, at) : about('walled_though_paid', 'bad', 'disconnect', at)
  }
  if (session && now - Date.parse(session.updatedAt) > silence) {
    return { ...about('no_reports', 'attention', 'router', at), since: session.updatedAt }
  }
  if (code === 'grace') return plain('grace', 'attention', 'take_payment', s, reason)
  if (code === 'cap_throttled') return plain('cap_throttled', 'attention', 'top_up', s, reason)
  const remind: AnswerCode[] = s.dunning?.state === 'reminding' ? ['reminding'] : []
  return { ...plain(code, 'good', null, s, reason), session, router: at, also: remind }
}

/** isTold keeps the differences that have a sentence of their own. */
function isTold(d: Difference): d is Difference & { kind: ToldDifference } {
  return d.kind in ofDifference
}

/** toldRefusal gives the code of a refusal that has a sentence of its own. */
function toldRefusal({ code }: Refusal): ToldRefusal | null {
  return code in ofRefusal ? (code as ToldRefusal) : null
}

/**
 * lastRefusal is the newest refusal that still tells why a service is off: one from before a payment does not. Nobody has
 * access who is blocked now, so a refusal for a block is from before its end, which no reason tells.
 */
function lastRefusal(refusals: Refusal[], s: Service, reason: Reason | undefined, now: number): Refusal | undefined {
  return refusals
    .filter((r) => (r.subscriptionId ?? s.subscriptionId) === s.subscriptionId && now - Date.parse(r.at) < fresh)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .find((r) => toldRefusal(r) !== null || r.code === 'blocked' || (reason !== undefined && r.at < reason.since))
}

function plain(code: AnswerCode, tone: Tone, step: Step | null, s: Service | null, reason: Reason | undefined): Answer {
  return {
    code, tone, step,
    subscriptionId: s?.subscriptionId ?? null,
    since: reason?.since ?? null,
    cause: reason?.cause ?? null,
    service: s, session: null, differenceId: null, router: null, also: [], owed: 0,
  }
}

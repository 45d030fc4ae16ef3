import type { Shape } from '../../../api/types'

type Plan = Shape<'PlanResponse'>
type Patch = Shape<'PlanPatch'>

/** Anchor is the day on which periods end: their own first day, or a day of the month. */
export type Anchor = NonNullable<Plan['billing']['anchor']>

/** Figure is a number while it is typed; '' is an empty field. */
export type Figure = number | ''

/** Pair is a speed in Mbps. */
interface Pair {
  down: Figure
  up: Figure
}

export interface WindowDraft extends Pair {
  days: string[]
  from: string
  to: string
  /** burst cannot be changed here, and is kept. */
  burst: Shape<'PlanBurst'> | null
}

/** PlanDraft is a plan as its form has it: speeds in Mbps, data in GB, and what is switched off still filled in. */
export interface PlanDraft extends Pair {
  code: string
  name: string
  kind: Plan['kind']
  mode: Plan['billing']['mode']
  period: Plan['billing']['period']
  anchor: Anchor
  price: Figure
  lateRenewal: Plan['lateRenewal']
  partialPayment: Plan['partialPayment']
  billWhileSuspended: Plan['billWhileSuspended']
  sessionLimit: Figure
  onLimit: 'replace' | 'refuse'
  dunningPolicy: string
  pool: string
  ipv6Pool: string
  ipv6Delegated: string
  burst: (Pair & { thresholdDown: Figure; thresholdUp: Figure; seconds: Figure }) | null
  cap: (Pair & { gigabytes: Figure; period: 'day' | 'month'; then: 'throttle' | 'stop' }) | null
  schedule: WindowDraft[]
}

/** usual is the plan that most of them are: a month at home, paid in advance. */
export const usual: PlanDraft = {
  code: '', name: '', kind: 'pppoe', mode: 'prepaid', period: 'month', anchor: 'anniversary', price: '', down: '', up: '',
  lateRenewal: 'payment', partialPayment: 'credit', billWhileSuspended: 'yes', sessionLimit: 1, onLimit: 'replace',
  dunningPolicy: '', pool: '', ipv6Pool: '', ipv6Delegated: '', burst: null, cap: null, schedule: [],
}

const mega = (kbits: number) => kbits / 1000
const kilo = (mbits: Figure) => Math.round(Number(mbits) * 1000)

/** draftOf fills the form with a plan. */
export function draftOf(p: Plan): PlanDraft {
  const { burst } = p.rates
  return {
    code: p.code,
    name: p.name,
    kind: p.kind,
    mode: p.billing.mode,
    period: p.billing.period,
    anchor: p.billing.anchor ?? 'anniversary',
    price: p.price,
    down: mega(p.rates.down),
    up: mega(p.rates.up),
    lateRenewal: p.lateRenewal,
    partialPayment: p.partialPayment,
    billWhileSuspended: p.billWhileSuspended,
    sessionLimit: p.sessionLimit ?? 1,
    onLimit: p.onLimit ?? 'replace',
    dunningPolicy: p.dunningPolicy ?? '',
    pool: p.pool ?? '',
    ipv6Pool: p.ipv6?.pool ?? '',
    ipv6Delegated: p.ipv6?.delegatedPool ?? '',
    burst: burst
      ? {
        down: mega(burst.down),
        up: mega(burst.up),
        thresholdDown: mega(burst.thresholdDown),
        thresholdUp: mega(burst.thresholdUp),
        seconds: burst.seconds,
      }
      : null,
    cap: p.cap
      ? {
        gigabytes: p.cap.bytes / 1e9,
        period: p.cap.period ?? 'month',
        then: p.cap.then ?? 'throttle',
        down: p.cap.throttle ? mega(p.cap.throttle.down) : '',
        up: p.cap.throttle ? mega(p.cap.throttle.up) : '',
      }
      : null,
    schedule: (p.schedule ?? []).map((w) => ({
      days: w.days,
      from: w.from,
      // The field of the browser has no 24:00; both mean the midnight at the end.
      to: w.to === '24:00' ? '00:00' : w.to,
      down: mega(w.rates.down),
      up: mega(w.rates.up),
      burst: w.rates.burst ?? null,
    })),
  }
}

/** termsOf writes the form as the API takes it; null removes what a plan can be without. */
export function termsOf(d: PlanDraft) {
  const { burst, cap } = d
  return {
    name: d.name.trim(),
    kind: d.kind,
    price: Number(d.price),
    // Only months have a day of their own.
    billing: { mode: d.mode, period: d.period, anchor: d.period === 'month' ? d.anchor : 'anniversary' as const },
    lateRenewal: d.lateRenewal,
    partialPayment: sellsParts(d) ? d.partialPayment : 'credit' as const,
    billWhileSuspended: d.mode === 'postpaid' ? d.billWhileSuspended : 'yes' as const,
    rates: {
      down: kilo(d.down),
      up: kilo(d.up),
      burst: burst && {
        down: kilo(burst.down),
        up: kilo(burst.up),
        thresholdDown: kilo(burst.thresholdDown),
        thresholdUp: kilo(burst.thresholdUp),
        seconds: Number(burst.seconds),
      },
    },
    sessionLimit: Number(d.sessionLimit),
    onLimit: d.onLimit,
    dunningPolicy: d.dunningPolicy || null,
    pool: d.pool.trim() || null,
    ipv6: d.ipv6Pool.trim() || d.ipv6Delegated.trim()
      ? { pool: d.ipv6Pool.trim(), delegatedPool: d.ipv6Delegated.trim() }
      : null,
    cap: cap && {
      bytes: Math.round(Number(cap.gigabytes) * 1e9),
      period: cap.period,
      then: cap.then,
      ...(cap.then === 'throttle' ? { throttle: { down: kilo(cap.down), up: kilo(cap.up) } } : {}),
    },
    schedule: d.schedule.length === 0 ? null : d.schedule.map((w) => ({
      days: w.days, from: w.from, to: w.to, rates: { down: kilo(w.down), up: kilo(w.up), burst: w.burst },
    })),
  }
}

/** patchOf has the terms that the form changes; empty = none. */
export function patchOf(before: Plan, d: PlanDraft): Patch {
  const old: Record<string, unknown> = termsOf(draftOf(before))
  return Object.fromEntries(
    Object.entries(termsOf(d)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name])),
  )
}

/** codeFrom makes a code of a name: "Home 10 Mbps" is home-10-mbps. */
export function codeFrom(name: string): string {
  return name.normalize('NFD').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 50)
}

/** sellsParts reports whether a part of the price can buy days. */
export function sellsParts(d: PlanDraft): boolean {
  const whole = d.period !== 'hour' && d.period !== 'day' && (d.period !== 'month' || d.anchor === 'anniversary')
  return d.mode === 'prepaid' && whole
}

/** hasMore reports whether a plan uses what the short form does not show. */
export function hasMore(d: PlanDraft): boolean {
  const { code, name, kind, mode, period, price, down, up } = d
  const short = { ...usual, code, name, kind, mode, period, price, down, up }
  return JSON.stringify(termsOf(short)) !== JSON.stringify(termsOf(d))
}

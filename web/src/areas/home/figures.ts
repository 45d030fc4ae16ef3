import type { Format } from '../../text/format'
import type { homeText } from '../../text/home'
import type { Way } from '../../ui/To'
import { firstOfMonth } from './compare'
import type { Line } from './Lines'
import type { Today } from './today'

type Texts = (typeof homeText)['en']

// A figure that waits for somebody: when it is zero, its name stands among what there is none of.
interface Waiting extends Omit<Line, 'figure'> {
  count: number
  figure?: string
  /** zero is the name of what there is none of. */
  zero: string
}

/** waitingOf divides what waits for somebody into what there is some and what there is none of. */
export function waitingOf(r: Today, t: Texts, f: Format): { some: Line[]; none: { key: string; words: string; way: Way }[] } {
  const money = (amount: number) => f.money(amount, r.currency)
  const all: Waiting[] = [
    {
      key: 'suspense', tone: r.suspense.late > 0 ? 'bad' : 'attention', count: r.suspense.count, words: t.inSuspense(r.suspense.count),
      more: `${heldOf(r.suspense, money, f)}${r.suspense.oldestAt ? `, ${t.oldest(f.relative(r.suspense.oldestAt, Date.parse(r.asOf)))}` : ''}${r.suspense.late > 0 ? `. ${t.suspenseLate(r.suspense.late, r.suspense.alarmDays)}` : ''}`,
      zero: t.names.suspense, way: { to: '/suspense' },
    },
    {
      key: 'support', tone: 'attention', count: r.pending.support, words: t.supportWaits(r.pending.support),
      zero: t.names.support, way: { to: '/support', search: { state: 'open' } },
    },
    {
      key: 'approvals', tone: 'attention', count: r.pending.approvals, words: t.approvalsWait(r.pending.approvals),
      zero: t.names.approvals, way: { to: '/approvals', search: { state: 'waiting' } },
    },
    {
      key: 'refunds', tone: 'attention', count: r.refunds.requested + r.refunds.approved,
      words: t.refundsWait(r.refunds.requested + r.refunds.approved), more: t.refundsOf(r.refunds.requested, r.refunds.approved),
      zero: t.names.refunds, way: { to: '/refunds', search: { open: true } },
    },
    {
      key: 'overdue', tone: 'attention', count: r.overdue.invoices, figure: money(r.overdue.amount), words: t.overdue,
      more: t.overdueOf(r.overdue.customers, r.overdue.invoices), zero: t.names.overdue,
      way: { to: '/invoices', search: { overdue: true } },
    },
    {
      key: 'differences', tone: 'attention', count: r.differences.total, words: t.differ(r.differences.total),
      more: r.differences.byKind.map((k) => t.differences[k.kind]?.(k.count) ?? `${k.count} ${k.kind}`).join(', '),
      zero: t.names.differences, way: { to: '/differences' },
    },
    {
      key: 'payments', count: r.failed.payments, words: t.failedPayments(r.failed.payments), more: t.failedPaymentsHint,
      zero: t.names.failedPayments, way: { to: '/payments', search: { status: 'FAILED', from: r.date } },
    },
    {
      key: 'messages', tone: 'attention', count: r.failed.messages, words: t.failedMessages(r.failed.messages),
      zero: t.names.failedMessages, way: { to: '/messages', search: { state: 'failed', from: r.date } },
    },
    {
      key: 'compensationsApplying', tone: 'attention', count: r.compensations.applying,
      words: t.compensationsApplying(r.compensations.applying), zero: t.names.compensationsApplying,
      way: { to: '/compensations', search: { state: 'applying' } },
    },
    {
      key: 'compensationsFailed', tone: 'attention', count: r.compensations.failed,
      words: t.compensationsFailed(r.compensations.failed), zero: t.names.compensationsFailed,
      way: { to: '/compensations', search: { state: 'finished', failed: true, from: r.compensations.failedFrom } },
    },
    {
      key: 'writtenOff', tone: 'attention', count: r.subscriptions.writtenOff, words: t.writtenOff(r.subscriptions.writtenOff),
      zero: t.names.writtenOff, way: { to: '/dunning', search: { state: 'written_off' } },
    },
    {
      key: 'pending', count: r.pending.payments, words: t.pending(r.pending.payments), zero: t.names.pending,
      way: { to: '/payments', search: { status: 'PENDING' } },
    },
  ]
  return {
    some: all.filter((w) => w.count > 0).map(({ count, zero: _, ...w }) => ({ ...w, figure: w.figure ?? f.number(count) })),
    none: all.filter((w) => w.count === 0).map(({ key, zero, way }) => ({ key, words: zero, way: { to: way.to } })),
  }
}

/** heldOf writes what waits in suspense: in the organization's currency, and in others. */
function heldOf({ amount, others }: Today['suspense'], money: (amount: number) => string, f: Format): string {
  const rest = others.map((o) => f.money(o.amount, o.currency))
  return [...(amount > 0 || rest.length === 0 ? [money(amount)] : []), ...rest].join(' + ')
}

/** customersOf says how many are served, and how. */
export function customersOf(r: Today, t: Texts, f: Format): Line[] {
  const { online, subscriptions: s, customers: c } = r
  const lines: (Line | false)[] = [
    {
      key: 'online', figure: f.number(online.customers), words: t.online(online.customers),
      more: online.unheard > 0 ? `${t.sessions(online.sessions)}; ${t.unheard(online.unheard)}` : t.sessions(online.sessions), way: { to: '/sessions', search: { online: true } },
    },
    s.reminding > 0 && {
      key: 'reminding', figure: f.number(s.reminding), words: t.reminding(s.reminding),
      way: { to: '/dunning', search: { state: 'reminding' } },
    },
    s.walledGarden > 0 && {
      key: 'walled', figure: f.number(s.walledGarden), words: t.walled(s.walledGarden), more: t.walledHint,
      way: { to: '/dunning', search: { state: 'walled_garden' } },
    },
    s.suspended > 0 && {
      key: 'suspended', figure: f.number(s.suspended), words: t.suspended(s.suspended),
      way: { to: '/dunning', search: { state: 'suspended' } },
    },
    { key: 'total', figure: f.number(c.total), words: t.total(c.total), way: { to: '/customers' } },
    c.newThisMonth > 0 && {
      key: 'new', figure: f.number(c.newThisMonth), words: t.newThisMonth(c.newThisMonth),
      way: { to: '/changes', search: { kind: 'new_customer', from: firstOfMonth(r.date) } },
    },
  ]
  return lines.filter((l) => l !== false)
}

/** networkOf is empty for those who may not read routers. */
export function networkOf({ devices, drift }: Today, t: Texts, f: Format): Line[] {
  if (!devices || !drift) return []
  const lines: (Line | false)[] = [
    {
      key: 'up', figure: `${f.number(devices.up)}/${f.number(devices.total)}`, words: t.routersUp(devices.total),
      way: { to: '/routers' },
    },
    devices.down > 0 && {
      key: 'down', tone: 'bad', figure: f.number(devices.down), words: t.routersDown(devices.down),
      way: { to: '/routers', search: { state: 'down' } },
    },
    devices.unknown > 0 && {
      key: 'unknown', figure: f.number(devices.unknown), words: t.routersUnknown(devices.unknown),
      way: { to: '/routers', search: { state: 'unknown' } },
    },
    drift.devices > 0 && {
      key: 'drift', tone: 'attention', figure: f.number(drift.devices), words: t.drifted(drift.devices),
      way: { to: '/routers', search: { drift: true } },
    },
  ]
  return lines.filter((l) => l !== false)
}

/** sinceOf lists what there was any of since the last look. */
export function sinceOf(s: NonNullable<Today['since']>, t: Texts, f: Format): Line[] {
  const changes = (kind: string): Way => ({ to: '/changes', search: { kind, from: s.at } })
  const counted: [key: string, n: number | null, words: (n: number) => string, tone?: Line['tone']][] = [
    ['router_down', s.devicesDown, t.wentDown, 'bad'],
    ['service_failed', s.failed.services, t.servicesFailed, 'bad'],
    ['drift_found', s.driftFound, t.driftFound, 'attention'],
    ['walled_garden', s.walledGarden, t.wereWalled],
    ['suspended', s.suspended, t.wereSuspended],
    ['restored', s.restored, t.wereRestored],
    ['new_customer', s.newCustomers, t.cameNew],
    ['payment_failed', s.failed.payments, t.paymentsFailed],
    ['message_failed', s.failed.messages, t.messagesFailed, 'attention'],
  ]
  const lines = counted
    .filter(([, n]) => n !== null && n > 0)
    .map(([key, n, words, tone]): Line => ({ key, tone, figure: f.number(n ?? 0), words: words(n ?? 0), way: changes(key) }))
  if (s.payments.count === 0) return lines
  const paid = { key: 'paid', figure: f.money(s.payments.amount), words: t.wasPaid(s.payments.count), way: { to: '/receipts' } }
  return [paid, ...lines]
}

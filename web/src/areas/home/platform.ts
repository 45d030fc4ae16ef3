import type { Format } from '../../text/format'
import type { homeText } from '../../text/home'
import type { Way } from '../../ui/To'
import type { Line } from './Lines'
import type { Platform } from './today'

type Texts = (typeof homeText)['en']
interface Named { key: string; words: string; way: Way }

const system = { to: '/system' }
const held = (p: Platform) => p.suspense?.filter((s) => s.count > 0) ?? []

/** isWaiting says that something of the platform waits for somebody. What was not read is not known to wait. */
export const isWaiting = (p: Platform) => held(p).length > 0 || p.breakers.open + p.breakers.failing > 0

/** organizationsOf counts organizations, and money of none of them; null = they were not read. */
export function organizationsOf(p: Platform, t: Texts, f: Format): Line[] | null {
  if (!p.organizations) return null
  const { total, suspended } = p.organizations
  const orgs: Line = {
    key: 'orgs', figure: f.number(total), words: t.orgs(total), more: suspended > 0 ? t.orgsSuspended(suspended) : undefined,
    way: { to: '/orgs' },
  }
  return [orgs, ...held(p).map((s): Line => ({
    key: s.currency, tone: s.late > 0 ? 'bad' : 'attention', figure: f.number(s.count), words: t.ofNobody(s.count),
    more: `${f.money(s.amount, s.currency)}${s.oldestAt ? `, ${t.oldest(f.relative(s.oldestAt, Date.parse(p.asOf)))}` : ''}`,
    way: { to: '/suspense' },
  }))]
}

// What is called may be away for its own reasons; a part of the program that has stopped waits for somebody here.
const counted = (p: Platform, t: Texts) => [
  { key: 'breakers', tone: 'attention' as const, n: p.breakers.open, words: t.breakers, zero: t.names.breakers },
  { key: 'failing', tone: 'attention' as const, n: p.breakers.failing, words: t.failing, zero: t.names.failing },
  { key: 'projections', tone: 'bad' as const, n: p.projections.stopped, words: t.projections, zero: t.names.projections },
  { key: 'processes', tone: 'bad' as const, n: p.processes?.stopped ?? null, words: t.processes, zero: t.names.processes },
]

/** stoppedOf has what of the program does not work. */
export const stoppedOf = (p: Platform, t: Texts, f: Format): Line[] =>
  counted(p, t).flatMap(({ key, tone, n, words }) => n ? { key, tone, figure: f.number(n), words: words(n), way: system } : [])

/** quietOf divides the rest into what there is none of and what was not read, which is never said to be none. */
export function quietOf(p: Platform, t: Texts): { none: Named[]; unread: Named[] } {
  const all: (Named & { n: number | null })[] = [
    ...counted(p, t).map(({ key, n, zero }) => ({ key, n, words: zero, way: system })),
    { key: 'suspense', n: p.suspense && held(p).length, words: t.names.suspense, way: { to: '/suspense' } },
    { key: 'orgs', n: p.organizations && p.organizations.total, words: t.names.organizations, way: { to: '/orgs' } },
  ]
  const named = (of: typeof all) => of.map(({ n: _, ...named }) => named)
  return { none: named(all.filter((q) => q.n === 0 && q.key !== 'orgs')), unread: named(all.filter((q) => q.n === null)) }
}

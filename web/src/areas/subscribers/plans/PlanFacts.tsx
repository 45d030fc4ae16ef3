import { Link } from '@tanstack/react-router'
import type { Shape } from '../../../api/types'
import { useText } from '../../../text/catalogue'
import { useFormat } from '../../../text/format'
import { plansText } from '../../../text/plans'
import { Facts } from '../../../ui/Facts'
import { State } from '../../../ui/State'

/** PlanFacts shows the terms of a plan's newest version, without those that it does not use. */
export function PlanFacts({ of: p }: { of: Shape<'PlanResponse'> }) {
  const t = useText(plansText)
  const f = useFormat()
  const { burst } = p.rates
  const pair = (down: number, up: number) => `${f.rate(down)} / ${f.rate(up)}`
  return (
    <Facts
      of={[
        [t.price, t.per(f.money(p.price, p.currency), t.periods[p.billing.period] ?? p.billing.period)],
        [t.mode, t.modes[p.billing.mode] ?? p.billing.mode],
        [t.anchor, p.billing.period === 'month' ? t.anchors(p.billing.anchor ?? 'anniversary') : null],
        [`${t.speed} (${t.down} / ${t.up})`, pair(p.rates.down, p.rates.up)],
        [t.kind, t.kinds[p.kind] ?? p.kind],
        [t.state, <State tone={p.archived ? 'quiet' : 'good'}>{p.archived ? t.archived : t.offered}</State>],
        [t.version, f.number(p.version)],
        [t.code, p.code],
        [t.customers, <Customers of={p} />],
        [t.late, p.billing.mode === 'prepaid' ? t.lates[p.lateRenewal] : null],
        [t.suspended, p.billing.mode === 'postpaid' ? t.suspendeds[p.billWhileSuspended] : null],
        [t.partial, p.billing.mode === 'prepaid' ? t.partials[p.partialPayment] : null],
        [t.sessions, f.number(p.sessionLimit ?? 1)],
        [t.onLimit, t.onLimits[p.onLimit ?? 'replace']],
        [t.policy, p.dunningPolicy || t.policyDefault],
        [t.burst, burst && `${pair(burst.down, burst.up)}, ${f.number(burst.seconds)} s`],
        [
          t.cap,
          p.cap && [
            t.capIs(f.bytes(p.cap.bytes), t.periods[p.cap.period ?? 'month']),
            p.cap.throttle ? t.throttledTo(f.rate(p.cap.throttle.down), f.rate(p.cap.throttle.up)) : t.thenStop,
          ].join(', '),
        ],
        [
          t.schedule,
          p.schedule && p.schedule.map((w) => (
            <div key={`${w.days.join()}${w.from}`}>
              {w.days.map((d) => t.dayNames[d as 'monday'] ?? d).join(', ')} {w.from}–{w.to}:{' '}
              {pair(w.rates.down, w.rates.up)}
            </div>
          )),
        ],
        [t.pool, p.pool],
        [t.ipv6Pool, p.ipv6?.pool],
        [t.ipv6Delegated, p.ipv6?.delegatedPool],
      ]}
    />
  )
}

/** Customers says how many have the plan, and in which version: those of an older one pay its price. */
function Customers({ of: p }: { of: Shape<'PlanResponse'> }) {
  const t = useText(plansText)
  const sum = p.versions.reduce((all, v) => all + v.customers, 0)
  if (sum === 0) return t.nobody
  const older = p.versions.some((v) => v.version !== p.version)
  return (
    <>
      <Link to="/customers" search={{ planId: p.id } as never}>{t.customersN(sum)}</Link>
      {older && ` (${p.versions.map((v) => t.ofVersion(v.version, t.customersN(v.customers))).join('; ')})`}
    </>
  )
}

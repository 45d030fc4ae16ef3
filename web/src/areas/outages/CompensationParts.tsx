import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { type Format, useFormat } from '../../text/format'
import { outagesText } from '../../text/outages'
import type { Tone } from '../../ui/State'

type Compensation = Shape<'CompensationResponse'>

/** toneOfCompensation says whether a compensation needs somebody. */
export const toneOfCompensation = (c: Pick<Compensation, 'state' | 'failed'>): Tone =>
  c.failed > 0 ? 'attention' : c.state === 'finished' ? 'good' : c.state === 'applying' ? 'attention' : 'quiet'

/** sumsOf writes what all customers of a compensation get together. */
export const sumsOf = (c: Pick<Compensation, 'amount' | 'currency' | 'days'>, t: (typeof outagesText)['en'], f: Format) =>
  t.sums(c.currency && c.amount > 0 ? f.money(c.amount, c.currency) : null, c.days)

/** Sums shows what all customers get together. */
export function Sums({ of: c }: { of: Compensation }) {
  return <>{sumsOf(c, useText(outagesText), useFormat())}</>
}

/** Wanted shows what each one gets. */
export function Wanted({ of: c }: { of: Compensation }) {
  const t = useText(outagesText)
  const f = useFormat()
  if (c.give.proportional) return <>{t.gives.proportional}</>
  return <>{c.give.money === null ? t.giveDays(c.give.days ?? 0) : f.money(c.give.money)}</>
}

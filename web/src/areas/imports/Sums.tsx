import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { importSumsText } from '../../text/importSums'
import { Facts } from '../../ui/Facts'
import { Section } from '../../ui/Page'
import type { DryRun } from './upload'

/** Sums shows what an import makes before anything is made: how many customers and services, and how much money. */
export function Sums({ of }: { of: DryRun }) {
  const t = useText(importSumsText)
  const f = useFormat()
  const e = of.effects
  const some = (n: number) => (n > 0 ? f.number(n) : null)
  const money = (n: number, sum: number | null) =>
    n > 0 && sum !== null && of.currency !== null ? t.money(f.money(sum, of.currency), f.number(n)) : null
  return (
    <Section title={t.title}>
      <Facts
        of={[
          [t.customers, f.number(e.customers)],
          [t.completed, some(e.completed)],
          [t.owed, money(e.owing, e.owed)],
          [t.credit, money(e.inCredit, e.credit)],
          [t.services, e.services > 0 ? t.servicesOf(f.number(e.services), e.plans.map((p) => `${p.name} ${f.number(p.services)}`).join(', ')) : null],
          [t.paidTime, some(e.paidTime)],
          [t.lapsed, some(e.lapsed)],
          [t.unpaid, some(e.unpaid)],
          [t.postpaid, some(e.postpaid)],
          [t.usernames, e.services > 0 ? t.given(f.number(e.usernames), f.number(e.services - e.usernames)) : null],
          [t.passwords, e.services > 0 ? t.given(f.number(e.passwords), f.number(e.services - e.passwords)) : null],
          [t.hashed, some(e.hashed)],
          [t.attached, some(e.attached)],
          ...e.states.map((s): [string, string] => [t.state(s.state), t.becomes[s.becomes](f.number(s.customers))]),
        ]}
      />
    </Section>
  )
}

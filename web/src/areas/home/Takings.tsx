import { Group, Text } from '@mantine/core'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { homeText } from '../../text/home'
import { Section } from '../../ui/Page'
import { Spark } from '../../ui/Spark'
import { To } from '../../ui/To'
import { compare, daysBefore, firstOfMonth } from './compare'
import type { Today } from './today'

const shownDays = 30

/** Takings compares the money of today and of this month with the same time before. */
export function Takings({ of: { money, date, currency }, chart }: { of: Today; chart: boolean }) {
  const t = useText(homeText)
  const f = useFormat()
  const from = daysBefore(date, shownDays - 1)
  const days = api.useQuery('get', '/reports/collections', { params: { query: { from, to: date } } }, { enabled: chart })
  const rows = [
    { key: 'today', name: t.today, of: money.today, before: money.yesterday.untilNow, from: date, than: t.thanYesterday },
    { key: 'month', name: t.month, of: money.month, before: money.lastMonth.untilNow, from: firstOfMonth(date), than: t.thanLastMonth },
  ]
  return (
    <Section
      title={t.money}
      actions={
        <div style={{ width: 96, height: 20 }}>
          {days.data && <Spark values={days.data.days.map((d) => d.total)} label={t.lastDays(shownDays)} />}
        </div>
      }
    >
      {rows.map((r) => {
        const c = compare(r.of.amount, r.before.amount)
        return (
          <div key={r.key}>
            <Group gap="xs" align="baseline" justify="space-between">
              <Text size="sm" c="dimmed">{r.name}</Text>
              <Text size="xl" fw={600} className="figure" component="div">
                <To way={{ to: '/collections', search: { from: r.from, to: date } }}>{f.money(r.of.amount, currency)}</To>
              </Text>
            </Group>
            <Text size="sm" c="dimmed" ta="right">
              {t.payments(r.of.count)}
              {c.kind !== 'none' && `, ${r.than[c.kind]('part' in c ? f.percent(c.part) : f.money(r.before.amount, currency))}`}
            </Text>
          </div>
        )
      })}
    </Section>
  )
}

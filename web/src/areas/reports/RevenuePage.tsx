import { SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useCallback, useMemo } from 'react'
import { api, client } from '../../api/client'
import type { Shape } from '../../api/types'
import { useNow } from '../../app/clock'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { reportsText } from '../../text/reports'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { later } from '../../ui/later'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { To } from '../../ui/To'
import { useCsv } from './Csv'
import { DaysFields, daysOf } from './DaysFields'

type Report = Shape<'RevenueResponse'>

const Chart = later(() => import('../../ui/Chart').then((m) => m.Chart), { height: 232 })

/** RevenuePage answers: what did we earn, and with what? */
export default function RevenuePage() {
  const app = useText(appText)
  const f = useFormat()
  const today = f.date(useNow())
  const navigate = useNavigate({ from: '/revenue' })
  const days = daysOf(useSearch({ from: '/revenue' }), today)
  const wrong = days.from > days.to
  const report = api.useQuery('get', '/reports/revenue', { params: { query: days } }, {
    placeholderData: keepPreviousData,
    enabled: !wrong,
  })
  const csv = useCsv(
    `revenue-${days.from}-${days.to}.csv`,
    () => client.GET('/reports/revenue', { params: { query: { ...days, format: 'csv' } }, parseAs: 'blob' }),
    wrong,
  )
  return (
    <Page title={app.revenue} actions={csv.button}>
      <DaysFields days={days} today={today} onChange={(search) => void navigate({ search, replace: true })} />
      {csv.problem}
      <Loaded read={report} height={560}>{(of) => <Figures of={of} />}</Loaded>
    </Page>
  )
}

/** Figures are the sum, what stands beside it, the chart, and the same as tables. */
function Figures({ of }: { of: Report }) {
  const t = useText(reportsText)
  const f = useFormat()
  const write = useCallback((amount: number) => f.number(Math.round(amount)), [f])
  const times = useMemo(() => of.periods.map((p) => Date.parse(`${p.from}T12:00:00Z`)), [of.periods])
  const series = useMemo(
    () => [{ label: `${t.net} (${of.currency})`, values: of.periods.map((p) => p.net), color: 'var(--chart-1)', bars: true }],
    [of.periods, of.currency, t],
  )
  const money = (amount: number) => <Money amount={amount} currency={of.currency} />
  return (
    <Stack gap="lg">
      <div>
        <Title order={2} size="h4">{t.earned(f.money(of.earned.net, of.currency), f.day(of.from), f.day(of.to))}</Title>
        <Text size="sm" c="dimmed">{t.earnedHint}</Text>
      </div>
      <Facts
        of={[
          [t.tax, money(of.earned.tax)],
          [t.deferred(f.day(of.to)), money(of.deferred.net)],
          [t.losses, of.losses === 0 ? null : money(of.losses)],
          [t.vouchers, of.vouchers === 0 ? null : <To key="v" way={{ to: '/vouchers' }}>{f.money(of.vouchers, of.currency)}</To>],
        ]}
      />
      {of.periods.length > 1 && (
        <div style={{ minHeight: 232 }}>
          <Chart times={times} series={series} write={write} label={t.byPeriod} />
        </div>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Section title={t.byPlan}>
          {of.plans.length === 0 ? <Text size="sm" c="dimmed">{t.earnedNothing}</Text> : (
            <Sums
              label={t.byPlan}
              name={t.plan}
              currency={of.currency}
              rows={of.plans.map((p) => ({
                ...p,
                key: p.planId ?? '',
                name: p.planId ? <Link to="/plans/$id" params={{ id: p.planId }}>{p.name ?? '–'}</Link> : t.besidePlans,
              }))}
            />
          )}
        </Section>
        <Section title={t.byPeriod}>
          <Sums
            label={t.byPeriod}
            name={of.by === 'month' ? t.month : t.day}
            currency={of.currency}
            rows={[...of.periods].reverse().map((p) => ({
              ...p,
              key: p.from,
              name: of.by === 'day' ? f.day(p.from) : (
                <Link to="/revenue" search={{ from: p.from, to: p.to }}>{f.month(`${p.from}T12:00:00Z`)}</Link>
              ),
            }))}
          />
        </Section>
      </SimpleGrid>
    </Stack>
  )
}

/** Sums is a table of revenue. */
function Sums({ label, name, rows, currency }: {
  label: string
  name: string
  rows: { key: string; name: ReactNode; net: number; tax: number }[]
  currency: string
}) {
  const t = useText(reportsText)
  return (
    <Table verticalSpacing={6} withRowBorders={false} aria-label={label}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{name}</Table.Th>
          <Table.Th scope="col" ta="right">{t.net}</Table.Th>
          <Table.Th scope="col" ta="right" visibleFrom="xs">{t.tax}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((r) => (
          <Table.Tr key={r.key}>
            <Table.Td>{r.name}</Table.Td>
            <Table.Td ta="right"><Money amount={r.net} currency={currency} /></Table.Td>
            <Table.Td ta="right" visibleFrom="xs"><Money amount={r.tax} currency={currency} /></Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

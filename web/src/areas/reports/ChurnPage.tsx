import { SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
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
import { Page, Section } from '../../ui/Page'
import { useCsv } from './Csv'
import { DaysFields, daysOf } from './DaysFields'
import { isRunning, presets } from './months'

type Report = Shape<'ChurnResponse'>

const Chart = later(() => import('../../ui/Chart').then((m) => m.Chart), { height: 232 })

/** ChurnPage answers: do we grow, who leaves and why, and what does a subscription bring? */
export default function ChurnPage() {
  const app = useText(appText)
  const f = useFormat()
  const today = f.date(useNow())
  const navigate = useNavigate({ from: '/churn' })
  const search = useSearch({ from: '/churn' })
  const days = search.from || search.to ? daysOf(search, today) : presets(today).year
  const wrong = days.from > days.to
  const report = api.useQuery('get', '/reports/churn', { params: { query: days } }, {
    placeholderData: keepPreviousData,
    enabled: !wrong,
  })
  const csv = useCsv(
    `churn-${days.from}-${days.to}.csv`,
    () => client.GET('/reports/churn', { params: { query: { ...days, format: 'csv' } }, parseAs: 'blob' }),
    wrong,
  )
  return (
    <Page title={app.churn} actions={csv.button}>
      <DaysFields days={days} today={today} onChange={(to) => void navigate({ search: to, replace: true })} />
      {csv.problem}
      <Loaded read={report} height={560}>{(of) => <Figures of={of} />}</Loaded>
    </Page>
  )
}

/** Figures are the sums, the chart, and the months as a table. */
function Figures({ of }: { of: Report }) {
  const t = useText(reportsText)
  const f = useFormat()
  const write = useCallback((n: number) => f.number(n), [f])
  const times = useMemo(() => of.months.map((m) => Date.parse(`${m.from}T12:00:00Z`)), [of.months])
  const series = useMemo(
    () => [{ label: t.customers, values: of.months.map((m) => m.customers.atEnd), color: 'var(--chart-1)', bars: true }],
    [of.months, t],
  )
  const c = of.customers
  const brings = of.revenuePerSubscription
  return (
    <Stack gap="lg">
      <div>
        <Title order={2} size="h4">{t.moved(f.number(c.atStart), f.number(c.atEnd), f.day(of.from), f.day(of.to))}</Title>
        <Text size="sm" c="dimmed">{t.movedHint}</Text>
        {c.takenOver > 0 && <Text size="sm" c="dimmed">{t.takenOverHint}</Text>}
      </div>
      <Facts
        of={[
          [t.takenOver, c.takenOver === 0 ? null : f.number(c.takenOver)],
          [t.came, f.number(c.new)],
          [t.returned, f.number(c.returned)],
          [t.left, f.number(c.ended)],
          [t.rate, c.rate === null ? '–' : `${f.number(c.rate)} %`],
          [t.averageSubscriptions, f.number(of.averageSubscriptions)],
          [t.perSubscriptionWhole, brings === null ? '–' : f.money(brings, of.currency)],
        ]}
      />
      {of.months.length > 1 && (
        <div style={{ minHeight: 232 }}>
          <Chart times={times} series={series} write={write} label={t.customersAtEnd} />
        </div>
      )}
      <Section title={t.byMonth}>
        <Months of={of} />
      </Section>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Section title={t.whyEnded}>
          {of.reasons.length === 0 ? <Text size="sm" c="dimmed">{t.nobodyEnded}</Text> : (
            <Table verticalSpacing={6} withRowBorders={false} aria-label={t.whyEnded}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">{t.reason}</Table.Th>
                  <Table.Th scope="col" ta="right">{t.subscriptions}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {of.reasons.map((r) => (
                  <Table.Tr key={r.reason ?? ''}>
                    <Table.Td style={{ overflowWrap: 'anywhere' }}>{r.reason ?? t.noReason}</Table.Td>
                    <Table.Td ta="right" className="figure">{f.number(r.count)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )}
        </Section>
      </SimpleGrid>
    </Stack>
  )
}

/** Months is the table of who came and left. */
function Months({ of }: { of: Report }) {
  const t = useText(reportsText)
  const f = useFormat()
  const today = f.date(useNow())
  return (
    <Table verticalSpacing={6} withRowBorders={false} aria-label={t.byMonth}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t.month}</Table.Th>
          <Table.Th scope="col" ta="right" visibleFrom="sm">{t.atStart}</Table.Th>
          <Table.Th scope="col" ta="right">{t.came}</Table.Th>
          <Table.Th scope="col" ta="right" visibleFrom="sm">{t.returned}</Table.Th>
          <Table.Th scope="col" ta="right">{t.left}</Table.Th>
          <Table.Th scope="col" ta="right">{t.atEnd}</Table.Th>
          <Table.Th scope="col" ta="right" visibleFrom="sm">{t.rate}</Table.Th>
          <Table.Th scope="col" ta="right" visibleFrom="sm">{t.perSubscription}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {[...of.months].reverse().map((m) => (
          <Table.Tr key={m.from}>
            <Table.Td>
              <Link to="/churn" search={{ from: m.from, to: m.to }} activeProps={{}}>{f.month(`${m.from}T12:00:00Z`)}</Link>
              {isRunning(m, today) && <Text span inherit c="dimmed" title={t.monthRunsHint}> {t.monthRuns}</Text>}
              {m.customers.takenOver > 0 && (
                <Text span inherit c="dimmed" title={t.takenOverHint}> {t.monthTook(f.number(m.customers.takenOver))}</Text>
              )}
            </Table.Td>
            <Table.Td ta="right" className="figure" visibleFrom="sm">{f.number(m.customers.atStart)}</Table.Td>
            <Table.Td ta="right" className="figure">{f.number(m.customers.new)}</Table.Td>
            <Table.Td ta="right" className="figure" visibleFrom="sm">{f.number(m.customers.returned)}</Table.Td>
            <Table.Td ta="right" className="figure">{f.number(m.customers.ended)}</Table.Td>
            <Table.Td ta="right" className="figure">{f.number(m.customers.atEnd)}</Table.Td>
            <Table.Td ta="right" className="figure" visibleFrom="sm">
              {m.customers.rate === null ? '–' : `${f.number(m.customers.rate)} %`}
            </Table.Td>
            <Table.Td ta="right" className="figure" visibleFrom="sm">
              {m.revenuePerSubscription === null ? '–' : f.money(m.revenuePerSubscription, of.currency)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

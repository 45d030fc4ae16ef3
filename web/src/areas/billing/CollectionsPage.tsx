import { Button, Group, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { keepPreviousData, useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useCallback, useMemo } from 'react'
import { api, client } from '../../api/client'
import type { Filters } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useNow } from '../../app/clock'
import { appText } from '../../text/app'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { isolated } from '../../text/isolated'
import { Download } from '../../ui/icons'
import { Loaded } from '../../ui/Loaded'
import { later } from '../../ui/later'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { save } from '../../ui/save'
import { type Preset, presets, type Span } from './spans'
import './billing.css'

type Report = Shape<'CollectionsResponse'>

const Chart = later(() => import('../../ui/Chart').then((m) => m.Chart), { height: 232 })

/** CollectionsPage answers: what money came in, when, how, and who took it? */
export default function CollectionsPage() {
  const t = useText(billingText)
  const app = useText(appText)
  const f = useFormat()
  const today = f.date(useNow())
  const usual = presets(today)
  const search = useSearch({ from: '/collections' })
  const navigate = useNavigate({ from: '/collections' })
  const from = search.from ?? search.to ?? usual.month.from
  const to = search.to ?? (search.from && search.from > today ? search.from : today)
  const wrong = from > to
  const report = api.useQuery('get', '/reports/collections', { params: { query: { from, to } } }, {
    placeholderData: keepPreviousData,
    enabled: !wrong,
  })
  const csv = useMutation({
    mutationFn: async () => {
      const { data } = await client.GET('/reports/collections', { params: { query: { from, to, format: 'csv' } }, parseAs: 'blob' })
      save(`collections-${from}-${to}.csv`, data!)
    },
  })
  const change = (part: Partial<typeof search>) => void navigate({ search: { from, to, ...part }, replace: true })
  return (
    <Page
      title={app.collections}
      actions={
        <Button
          onClick={() => csv.mutate()}
          loading={csv.isPending}
          disabled={wrong}
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
        >
          {t.csv}
        </Button>
      }
    >
      <Group gap="xs" align="flex-end">
        <TextInput
          type="date" label={t.from} value={from} max={to}
          onChange={(e) => e.currentTarget.value && change({ from: e.currentTarget.value })}
        />
        <TextInput
          type="date" label={t.to} value={to} min={from} error={wrong && t.wrongSpan}
          onChange={(e) => e.currentTarget.value && change({ to: e.currentTarget.value })}
        />
        {(Object.keys(usual) as Preset[]).map((name) => {
          const current = usual[name].from === from && usual[name].to === to
          return (
            <Button
              key={name}
              size="sm"
              px="sm"
              variant={current ? 'light' : 'subtle'}
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/collections"
                  search={usual[name]}
                  replace
                  aria-current={current ? 'true' : undefined}
                />
              )}
            >
              {t.presets[name]}
            </Button>
          )
        })}
      </Group>
      {csv.error && <ProblemNote of={csv.error} retry={csv.mutate} />}
      <Loaded read={report} height={560}>{(of) => <Figures of={of} />}</Loaded>
    </Page>
  )
}

/** Figures are the sum, the chart, and the same as tables. */
function Figures({ of }: { of: Report }) {
  const t = useText(billingText)
  const f = useFormat()
  const write = useCallback((amount: number) => f.number(Math.round(amount)), [f])
  const times = useMemo(() => of.days.map((d) => Date.parse(`${d.date}T12:00:00Z`)), [of.days])
  const series = useMemo(
    () => [{ label: `${t.total} (${of.currency})`, values: of.days.map((d) => d.total), color: 'var(--chart-1)', bars: true }],
    [of.days, of.currency, t],
  )
  const busy = of.days.filter((d) => d.channels.length > 0).reverse()
  return (
    <Stack gap="lg">
      <div>
        <Title order={2} size="h4">
          {t.collected(f.money(of.total, of.currency), f.day(of.from), f.day(of.to))}
        </Title>
        <Text size="sm" c="dimmed">{busy.length > 0 ? t.collectedHint : t.nothing}</Text>
        {of.suspense.count > 0 && (
          <Text size="sm">
            <Link to="/suspense">{t.waits(f.money(of.suspense.amount, of.currency), of.suspense.count)}</Link>
          </Text>
        )}
      </div>
      {of.days.length > 1 && (
        <div style={{ minHeight: 232 }}>
          <Chart times={times} series={series} write={write} label={t.byDay} />
        </div>
      )}
      <div className="columns">
        <Totals
          title={t.byChannel}
          name={t.channel}
          rows={of.channels.map((c) => ({
            ...c,
            key: c.channel,
            name: t.channels[c.channel] ?? c.channel,
            to: c.channel === 'voucher' ? undefined : { from: of.from, to: of.to, channel: c.channel },
          }))}
          currency={of.currency}
          empty={t.nothing}
        />
        <Totals
          title={t.byStaff}
          name={t.staff}
          rows={of.staff.flatMap((s) => s.channels.map((c) => ({
            ...c,
            key: `${s.userId} ${c.channel}`,
            name: `${isolated(s.name ?? t.former)}, ${t.channels[c.channel] ?? c.channel}`,
            // A voucher has no receipt.
            to: c.channel === 'cash' ? { from: of.from, to: of.to, takenBy: s.userId } : undefined,
          })))}
          currency={of.currency}
          empty={t.staffNone}
        />
      </div>
      {busy.length > 0 && of.days.length > 1 && (
        <Totals
          title={t.byDay}
          name={t.day}
          rows={busy.map((d) => ({
            key: d.date,
            name: <Link to="/collections" search={{ from: d.date, to: d.date }}>{f.day(d.date)}</Link>,
            total: d.total,
            count: d.channels.reduce((sum, c) => sum + c.count, 0),
            to: { from: d.date, to: d.date },
          }))}
          currency={of.currency}
          empty={t.nothing}
        />
      )}
    </Stack>
  )
}

type ReceiptsOf = Span & Pick<Filters<'/receipts'>, 'channel' | 'takenBy'>

/** Totals is a table of sums. */
function Totals({ title, name, rows, currency, empty }: {
  title: string
  name: string
  /** rows whose receipts can be listed say by which filters. */
  rows: { key: string; name: ReactNode; total: number; count: number; to?: ReceiptsOf }[]
  currency: string
  empty: string
}) {
  const t = useText(billingText)
  const f = useFormat()
  return (
    <Section title={title}>
      {rows.length === 0 ? <Text size="sm" c="dimmed">{empty}</Text> : (
        <Table verticalSpacing={6} withRowBorders={false} aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{name}</Table.Th>
              <Table.Th scope="col" ta="right">{t.count}</Table.Th>
              <Table.Th scope="col" ta="right">{t.amount}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((r) => (
              <Table.Tr key={r.key}>
                <Table.Td>{r.name}</Table.Td>
                <Table.Td ta="right" className="figure">
                  {r.to ? <Link to="/receipts" search={r.to}>{f.number(r.count)}</Link> : f.number(r.count)}
                </Table.Td>
                <Table.Td ta="right"><Money amount={r.total} currency={currency} /></Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}

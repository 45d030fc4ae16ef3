import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { keepPreviousData, useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { api, client } from '../../api/client'
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
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { save } from '../../ui/save'
import { channelOf } from './behind'
import { CollectionsBehind } from './CollectionsBehind'
import { type Preset, presets } from './spans'
import { Both, Totals } from './Totals'

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
  const { on, channel, takenBy, side } = useSearch({ from: '/collections' })
  const opened = { on, channel, takenBy, side }
  const span = { from: of.from, to: of.to }
  const busy = of.days.filter((d) => d.channels.length > 0).reverse()
  return (
    <Stack gap="lg">
      <div>
        <Title order={2} size="h4">
          {t.collected(f.money(of.total, of.currency), f.day(of.from), f.day(of.to))}
        </Title>
        <Text size="sm" c="dimmed">{busy.length > 0 ? t.collectedHint : t.nothing}</Text>
        {busy.length > 0 && <Both sum={of} place={{}} of={t.total} span={span} currency={of.currency} />}
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
      <Totals
        title={t.byChannel}
        name={t.channel}
        rows={of.channels.map((c) => {
          const name = t.channels[channelOf(c.channel)] ?? c.channel
          return { ...c, key: c.channel, name, label: name, place: { channel: channelOf(c.channel) } }
        })}
        span={span}
        currency={of.currency}
        empty={t.nothing}
      />
      <Totals
        title={t.byStaff}
        name={t.staff}
        rows={of.staff.flatMap((s) => s.channels.map((c) => {
          const name = `${isolated(s.name ?? t.former)}, ${t.channels[c.channel] ?? c.channel}`
          const place = { channel: channelOf(c.channel), takenBy: s.userId }
          return { ...c, key: `${s.userId} ${c.channel}`, name, label: name, place }
        }))}
        span={span}
        currency={of.currency}
        empty={t.staffNone}
      />
      {busy.length > 0 && of.days.length > 1 && (
        <Totals
          title={t.byDay}
          name={t.day}
          rows={busy.map((d) => ({
            ...d,
            key: d.date,
            name: <Link to="/collections" search={{ from: d.date, to: d.date }}>{f.day(d.date)}</Link>,
            label: f.day(d.date),
            count: d.channels.reduce((sum, c) => sum + c.count, 0),
            place: { on: d.date },
          }))}
          span={span}
          currency={of.currency}
          empty={t.nothing}
        />
      )}
      {opened.side && <CollectionsBehind key={JSON.stringify(opened)} of={of} opened={{ ...opened, side: opened.side }} />}
    </Stack>
  )
}

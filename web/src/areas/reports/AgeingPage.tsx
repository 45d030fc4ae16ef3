import { Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { api, client } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { reportsText } from '../../text/reports'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { To } from '../../ui/To'
import { useCsv } from './Csv'

type Report = Shape<'AgeingResponse'>
type Debtor = Row<'/reports/ageing/customers'>

/** AgeingPage answers: who owes how much, and since when? */
export default function AgeingPage() {
  const app = useText(appText)
  const report = api.useQuery('get', '/reports/ageing', {}, { placeholderData: keepPreviousData })
  const csv = useCsv(
    `ageing-${report.data?.date ?? ''}.csv`,
    () => client.GET('/reports/ageing', { params: { query: { format: 'csv' } }, parseAs: 'blob' }),
  )
  return (
    <Page title={app.ageing} actions={csv.button}>
      {csv.problem}
      <Loaded read={report} height={300}>{(of) => <Ages of={of} />}</Loaded>
      <Debtors />
    </Page>
  )
}

/** Ages has a line for each age, which leads to those who owe. */
function Ages({ of }: { of: Report }) {
  const t = useText(reportsText)
  const f = useFormat()
  return (
    <Stack gap="xs">
      <div>
        <Title order={2} size="h4">
          {of.invoices > 0 ? t.owed(f.money(of.total, of.currency), of.customers, of.invoices) : t.owedNothing}
        </Title>
        <Text size="sm" c="dimmed">{t.owedHint(f.day(of.date))}</Text>
      </div>
      <Table verticalSpacing={6} withRowBorders={false} aria-label={t.age} maw={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t.age}</Table.Th>
            <Table.Th scope="col" ta="right">{t.customers}</Table.Th>
            <Table.Th scope="col" ta="right" visibleFrom="xs">{t.invoices}</Table.Th>
            <Table.Th scope="col" ta="right">{t.amount}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {of.buckets.map((b) => (
            <Line key={b.name} name={t.ages[b.name]} bucket={b.name} of={b} currency={of.currency} />
          ))}
          <Line name={t.total} of={{ ...of, amount: of.total }} currency={of.currency} />
        </Table.Tbody>
      </Table>
    </Stack>
  )
}

/** Line is one age, or all of them without a bucket. */
function Line({ name, bucket, of, currency }: {
  name: string
  bucket?: Report['buckets'][number]['name']
  of: { customers: number; invoices: number; amount: number }
  currency: string
}) {
  const f = useFormat()
  const chosen = useSearch({ from: '/ageing' }).bucket
  const way = { to: '/ageing', search: { bucket } }
  return (
    <Table.Tr fw={bucket ? undefined : 600}>
      <Table.Td>
        <To way={way} current={chosen === bucket}>{name}</To>
      </Table.Td>
      <Table.Td ta="right" className="figure">
        {of.customers > 0 ? <To way={way}>{f.number(of.customers)}</To> : f.number(0)}
      </Table.Td>
      <Table.Td ta="right" className="figure" visibleFrom="xs">{f.number(of.invoices)}</Table.Td>
      <Table.Td ta="right"><Money amount={of.amount} currency={currency} /></Table.Td>
    </Table.Tr>
  )
}

/** Debtors are the customers behind the chosen age, the largest debt first. */
function Debtors() {
  const t = useText(reportsText)
  const f = useFormat()
  const filters = useSearch({ from: '/ageing' })
  const list = useRows('/reports/ageing/customers', filters)
  const columns: Column<Debtor>[] = [
    { id: 'customer', title: t.customer, cell: (d) => <CustomerLink of={d.subscriber} /> },
    {
      id: 'invoices', title: t.invoices, width: 110, narrow: 84, figure: true,
      cell: (d) => <To way={{ to: '/invoices', search: { subscriberId: d.subscriberId } }}>{f.number(d.invoices)}</To>,
    },
    { id: 'oldest', title: t.oldest, width: 140, wideOnly: true, cell: (d) => f.day(d.oldestDueDate) },
    {
      id: 'amount', title: t.amount, width: 150, narrow: 124, figure: true,
      cell: (d) => <Money amount={d.amount} currency={d.currency} />,
    },
  ]
  const title = filters.bucket ? t.whoOf(t.ages[filters.bucket]) : t.who
  return (
    <Section title={title}>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(d) => d.subscriberId}
        label={title}
        empty={<Text size="sm" c="dimmed">{t.noDebtors}</Text>}
      />
    </Section>
  )
}

import { Group, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { api, client } from '../../api/client'
import { useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useNow } from '../../app/clock'
import { appText } from '../../text/app'
import { behindText } from '../../text/behind'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { reportsText } from '../../text/reports'
import { Behind } from '../../ui/Behind'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { useCsv } from './Csv'

type Report = Shape<'SettlementResponse'>

// East Africa Time has no summer time.
const eastAfrica = 3 * 3600_000
const dayThere = (at: number) => new Date(at + eastAfrica).toISOString().slice(0, 10)

/** SettlementPage answers: what does the platform owe to each organization for a day, or for some? */
export default function SettlementPage() {
  const t = useText(reportsText)
  const app = useText(appText)
  const now = useNow()
  const search = useSearch({ from: '/settlement' })
  const navigate = useNavigate({ from: '/settlement' })
  const today = dayThere(now)
  const date = search.date ?? dayThere(now - 24 * 3600_000)
  const to = search.to && search.to > date ? search.to : date
  const report = api.useQuery('get', '/reports/settlement', { params: { query: { date, to } } }, {
    placeholderData: keepPreviousData,
  })
  const csv = useCsv(
    to === date ? `settlement-${date}.csv` : `settlement-${date}-${to}.csv`,
    () => client.GET('/reports/settlement', { params: { query: { date, to, format: 'csv' } }, parseAs: 'blob' }),
  )
  return (
    <Page title={app.settlement} actions={csv.button}>
      <Group gap="xs" align="flex-end">
        <TextInput
          type="date" label={t.day} value={date} max={today}
          onChange={(e) => e.currentTarget.value && void navigate({ search: { date: e.currentTarget.value }, replace: true })}
        />
        <TextInput
          type="date" label={t.to} value={to} min={date} max={today}
          onChange={(e) => e.currentTarget.value && void navigate({ search: { date, to: e.currentTarget.value }, replace: true })}
        />
        {to === today && <Text size="sm" c="dimmed" pb={8}>{t.running}</Text>}
      </Group>
      {csv.problem}
      <Loaded read={report} height={300}>{(of) => <Sums of={of} />}</Loaded>
    </Page>
  )
}

/** Sums has a line for each organization, and the payments behind the one that was chosen. */
function Sums({ of }: { of: Report }) {
  const t = useText(reportsText)
  const b = useText(behindText)
  const f = useFormat()
  const { orgId } = useSearch({ from: '/settlement' })
  const chosen = of.organizations.find((o) => o.orgId === orgId)
  return (
    <Stack gap="lg">
      <div>
        <Title order={2} size="h4">{t.settled(f.money(of.total, of.currency), f.day(of.date), f.day(of.to))}</Title>
        <Text size="sm" c="dimmed">{t.settlementHint}</Text>
      </div>
      {of.organizations.length === 0 ? <Text size="sm">{t.settlementNone}</Text> : (
        <Table verticalSpacing={6} withRowBorders={false} aria-label={t.organization}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t.organization}</Table.Th>
              <Table.Th scope="col" ta="right">{t.payments}</Table.Th>
              <Table.Th scope="col" ta="right" visibleFrom="sm">{b.received}</Table.Th>
              <Table.Th scope="col" ta="right" visibleFrom="sm">{b.takenBack}</Table.Th>
              <Table.Th scope="col" ta="right">{t.amount}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {of.organizations.map((o) => (
              <Table.Tr key={o.orgId}>
                <Table.Td>
                  <Link to="/orgs/$id" params={{ id: o.orgId }}>{o.name ?? o.slug ?? '–'}</Link>
                </Table.Td>
                <Table.Td ta="right" className="figure">
                  <Link to="/settlement" search={{ date: of.date, to: of.to, orgId: o.orgId }} activeProps={{}} resetScroll={false}>{f.number(o.count)}</Link>
                </Table.Td>
                <Table.Td ta="right" visibleFrom="sm"><Money amount={o.received} currency={of.currency} /></Table.Td>
                <Table.Td ta="right" visibleFrom="sm"><Money amount={o.takenBack} currency={of.currency} /></Table.Td>
                <Table.Td ta="right"><Money amount={o.amount} currency={of.currency} /></Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {chosen && (
        <SettledPayments key={chosen.orgId} date={of.date} to={of.to} orgId={chosen.orgId} name={chosen.name ?? chosen.slug ?? ''} />
      )}
    </Stack>
  )
}

/** SettledPayments lists what the sum of one organization is made of. */
function SettledPayments({ date, to, orgId, name }: { date: string; to: string; orgId: string; name: string }) {
  const t = useText(reportsText)
  const navigate = useNavigate({ from: '/settlement' })
  return (
    <Behind
      title={t.rowsOf(name)}
      list={useRows('/reports/settlement/receipts', { date, to, orgId })}
      empty={t.noRows}
      onClose={() => void navigate({ search: { date, to }, resetScroll: false, replace: true })}
    />
  )
}

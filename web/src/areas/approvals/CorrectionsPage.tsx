import { Stack, Table, Text } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useNow } from '../../app/clock'
import { appText } from '../../text/app'
import { approvalsText } from '../../text/approvals'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { DaysFields, daysOf } from '../reports/DaysFields'
import { presets } from '../reports/months'

type Report = Shape<'CorrectionsResponse'>

/** CorrectionsPage answers: who gave money away in these days, how much, and who agreed? */
export default function CorrectionsPage() {
  const app = useText(appText)
  const f = useFormat()
  const today = f.date(useNow())
  const navigate = useNavigate({ from: '/corrections' })
  const search = useSearch({ from: '/corrections' })
  const days = search.from || search.to ? daysOf(search, today) : presets(today).month
  const report = api.useQuery('get', '/reports/corrections', { params: { query: days } }, {
    placeholderData: keepPreviousData,
    enabled: days.from <= days.to,
  })
  return (
    <Page title={app.corrections}>
      <DaysFields days={days} today={today} onChange={(to) => void navigate({ search: to, replace: true })} />
      <Loaded read={report} height={320}>{(of) => <Sums of={of} />}</Loaded>
    </Page>
  )
}

/** Sums are both tables: by kind, and by day and person. */
function Sums({ of }: { of: Report }) {
  const t = useText(approvalsText)
  const f = useFormat()
  if (of.rows.length === 0) return <Text c="dimmed">{t.noCorrections}</Text>
  const figures = (s: { count: number; sum: number; approved: number }, ofDay = false) => (
    <>
      <Table.Td ta="right" className="figure" visibleFrom={ofDay ? 'sm' : undefined}>{f.number(s.count)}</Table.Td>
      <Table.Td ta="right" className="figure">{f.money(s.sum, of.currency)}</Table.Td>
      <Table.Td ta="right" className="figure" visibleFrom="sm">{f.number(s.approved)}</Table.Td>
    </>
  )
  const titles = (ofDay = false) => (
    <>
      <Table.Th scope="col" ta="right" visibleFrom={ofDay ? 'sm' : undefined}>{t.count}</Table.Th>
      <Table.Th scope="col" ta="right">{t.sum}</Table.Th>
      <Table.Th scope="col" ta="right" visibleFrom="sm">{t.withSecond}</Table.Th>
    </>
  )
  return (
    <Stack gap="lg">
      <Section title={t.byKind}>
        <Table verticalSpacing={6} withRowBorders={false} aria-label={t.byKind}>
          <Table.Thead><Table.Tr><Table.Th scope="col">{t.kind}</Table.Th>{titles()}</Table.Tr></Table.Thead>
          <Table.Tbody>
            {of.totals.kinds.map((k) => <Table.Tr key={k.kind}><Table.Td>{t.kinds[k.kind]}</Table.Td>{figures(k)}</Table.Tr>)}
            <Table.Tr fw={600}><Table.Td>{t.all}</Table.Td>{figures(of.totals)}</Table.Tr>
          </Table.Tbody>
        </Table>
      </Section>
      <Section title={t.byDay}>
        <Table verticalSpacing={6} withRowBorders={false} aria-label={t.byDay}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t.date}</Table.Th>
              <Table.Th scope="col">{t.who}</Table.Th>
              <Table.Th scope="col">{t.kind}</Table.Th>
              {titles(true)}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {of.rows.map((r) => (
              <Table.Tr key={`${r.date} ${r.userId} ${r.kind}`}>
                <Table.Td>{f.day(r.date)}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{r.name ?? t.unknown}</Table.Td>
                <Table.Td>{t.kinds[r.kind]}</Table.Td>
                {figures(r, true)}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Section>
    </Stack>
  )
}

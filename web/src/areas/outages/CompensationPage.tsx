import { Button, Progress, Stack, Text } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { outagesText } from '../../text/outages'
import { Confirm } from '../../ui/Confirm'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { UndoBatch } from '../../ui/UndoBatch'
import { When } from '../../ui/When'
import { Sums, sumsOf, toneOfCompensation, Wanted } from './CompensationParts'
import { placeOf } from './place'

type Compensation = Shape<'CompensationResponse'>
type Item = Row<'/compensations/{id}/items'>

/** CompensationPage answers: who gets what, why does somebody get nothing, and has everybody got it? */
export default function CompensationPage() {
  const t = useText(outagesText)
  const { id } = useParams({ from: '/compensations/$id' })
  const read = api.useQuery('get', '/compensations/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => (q.state.data?.state === 'applying' ? 2000 : false),
  })
  return (
    <Page title={read.data ? t.oneCompensation(placeOf(read.data, t)) : t.compensations} wide actions={read.data && <Apply of={read.data} />}>
      <Loaded read={read} height={260}>{(c) => <Outcome of={c} />}</Loaded>
    </Page>
  )
}

/** Apply gives what was previewed: its button says to how many, and how much together. */
function Apply({ of: c }: { of: Compensation }) {
  const t = useText(outagesText)
  const f = useFormat()
  const may = useMay()
  const [asks, setAsks] = useState(false)
  const write = useWrite('post', '/compensations/{id}/apply', { told: () => t.applied, then: () => setAsks(false) })
  const what = sumsOf(c, t, f)
  if (c.state !== 'previewed' || c.customers === 0 || !may('POST /compensations/{id}/apply')) return null
  return (
    <>
      <Button onClick={() => setAsks(true)}>{t.apply(what, c.customers)}</Button>
      {asks && (
        <Confirm
          title={t.applyTitle}
          verb={t.apply(what, c.customers)}
          pending={write.isPending}
          error={write.error}
          onConfirm={() => write.mutate({ params: { path: { id: c.id } } })}
          onClose={() => setAsks(false)}
        >
          {t.applyDoes(what, c.customers)}
        </Confirm>
      )}
    </>
  )
}

function Outcome({ of: c }: { of: Compensation }) {
  const t = useText(outagesText)
  const f = useFormat()
  const done = c.given + c.refused
  return (
    <Stack gap="lg">
      <Stack gap={6}>
        <div role="status">
          <State tone={toneOfCompensation(c)}>
            {t.compensationStates[c.state]}{c.state === 'applying' && `: ${t.progress(done, c.subscriptions)}`}
          </State>
        </div>
        {c.state === 'applying' && <Progress value={(100 * done) / Math.max(1, c.subscriptions)} aria-label={t.compensationStates.applying} maw={480} />}
        {c.state === 'previewed' && c.customers === 0 && <Text size="sm">{t.nothingToGive}</Text>}
        {c.failed > 0 && <Text size="sm" c="var(--tone-attention)">{t.brokePromise(c.failed)}</Text>}
      </Stack>
      <Facts
        of={[
          [t.where, placeOf(c, t)],
          [t.outage, c.outageId ? <Link key="outage" to="/outages/$id" params={{ id: c.outageId }}>{t.outage}</Link> : null],
          [t.from, <When key="from" at={c.from} exact />],
          [t.to, <When key="to" at={c.to} exact />],
          [t.give, <Wanted key="give" of={c} />],
          [t.what, <Sums key="sums" of={c} />],
          [t.customers, f.number(c.customers)],
          [t.subscriptions, f.number(c.subscriptions)],
          [t.refused, c.refused > 0 ? f.number(c.refused) : null],
          [t.reason, c.reason],
          [t.previewedBy, <span key="previewed">{c.previewedBy?.name} <When at={c.previewedAt} /></span>],
          [t.appliedBy, c.appliedAt ? <span key="applied">{c.appliedBy?.name} <When at={c.appliedAt} /></span> : null],
          [t.finishedAt, c.finishedAt ? <When key="finished" at={c.finishedAt} /> : null],
        ]}
      />
      {c.state === 'finished' && <UndoBatch id={c.id} />}
      <Items of={c} />
    </Stack>
  )
}

/** Items has a row for each subscription: what it gets, or why it gets nothing. */
function Items({ of: c }: { of: Compensation }) {
  const t = useText(outagesText)
  const f = useFormat()
  const filters = useSearch({ from: '/compensations/$id' })
  const navigate = useNavigate({ from: '/compensations/$id' })
  const list = useRows('/compensations/{id}/items', filters, { path: { id: c.id } })
  const columns: Column<Item>[] = [
    { id: 'customer', title: t.customer, width: 320, narrow: 124, cell: (i) => <CustomerLink of={i.subscriber} account /> },
    {
      id: 'gets', title: t.gets,
      cell: (i) => i.code === null
        ? <Link to="/subscriptions/$id" params={{ id: i.subscriptionId }}>{t.sums(i.amount && i.currency ? f.money(i.amount, i.currency) : null, i.days)}</Link>
        : <State tone="quiet" title={t.whys[i.code]}>{t.whys[i.code] ?? i.code}</State>,
    },
    ...(c.state === 'previewed' ? [] : [{
      id: 'has', title: t.state, width: 120, wideOnly: true,
      cell: (i: Item) => i.given ? <State tone="good">{t.hasIt}</State> : i.code === null && <State tone="quiet">{t.notYet}</State>,
    }]),
  ]
  return (
    <Section title={t.items}>
      <Filters any={filters.gets !== undefined} onClear={() => void navigate({ search: {} })}>
        <ChoiceFilter<'true' | 'false'>
          value={filters.gets === undefined ? undefined : filters.gets ? 'true' : 'false'}
          label={t.filterGets}
          names={t.getsWords}
          onChange={(gets) => void navigate({ search: gets ? { gets: gets === 'true' } : {}, replace: true })}
        />
      </Filters>
      <DataTable list={list} columns={columns} rowKey={(i) => i.subscriptionId} label={t.items} empty={<Empty title={t.noItems} />} />
    </Section>
  )
}

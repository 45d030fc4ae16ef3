import { Button, Progress, Stack, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { runsText } from '../../text/runs'
import { Confirm } from '../../ui/Confirm'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { UndoBatch } from '../../ui/UndoBatch'
import { When } from '../../ui/When'
import { toneOf } from './RunsPage'

type Run = Row<'/billing/runs'>
type Made = Row<'/billing/runs/{id}/invoices'>

/** RunPage answers: what did the run of a day make, how does it differ from before, and what does it wait for? */
export default function RunPage() {
  const t = useText(runsText)
  const f = useFormat()
  const { id } = useParams({ from: '/billing-runs/$id' })
  const read = api.useQuery('get', '/billing/runs/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => (q.state.data?.state === 'queued' || q.state.data?.state === 'running' ? 2000 : false),
  })
  return (
    <Page title={read.data ? t.oneRun(f.date(read.data.date)) : t.runs} wide>
      <Loaded read={read} height={220}>{(run) => <Outcome of={run} />}</Loaded>
    </Page>
  )
}

/** Outcome shows how far a run is, what failed and what it made. */
function Outcome({ of: run }: { of: Run }) {
  const t = useText(runsText)
  const f = useFormat()
  const may = useMay()
  const [releasing, setReleasing] = useState(false)
  const list = useRows('/billing/runs/{id}/invoices', {}, { path: { id: run.id } })
  return (
    <Stack gap="md">
      <div role="status"><State tone={toneOf(run)}>{run.state === 'held' ? t.heldTitle : t.states[run.state]}</State></div>
      {run.state === 'held' && <Text size="sm">{t.held(f.number(run.total), f.number(run.usual ?? 0))}</Text>}
      {run.state === 'held' && may('POST /billing/runs/{id}/release') && (
        <Button style={{ alignSelf: 'start' }} onClick={() => setReleasing(true)}>{t.release}</Button>
      )}
      {run.state === 'running' && <Progress value={(100 * run.done) / Math.max(1, run.total)} aria-label={t.runs} maw={480} />}
      <Facts
        of={[
          [t.due, f.number(run.total)],
          [t.made, f.number(run.done)],
          [t.takenBack, run.undone > 0 ? f.number(run.undone) : null],
          [t.failed, run.failed > 0 ? f.number(run.failed) : null],
          [t.amount, run.currency ? <Money key="amount" amount={run.amount} currency={run.currency} /> : null],
          [t.usual, run.usual === null ? null : f.number(run.usual)],
          [t.started, <span key="at"><When at={run.requestedAt} /> {run.requestedBy?.name ?? t.byClock}</span>],
          [t.releasedBy, run.releasedAt ? <span key="released"><When at={run.releasedAt} /> {run.releasedBy?.name}</span> : null],
          [t.why, run.releaseReason],
          [t.finished, run.finishedAt ? <When key="end" at={run.finishedAt} /> : null],
        ]}
      />
      <UndoBatch id={run.id} />
      {run.failures.length > 0 && (
        <Section title={t.failures}>
          <Text size="sm">{t.failuresHint}</Text>
          <ul>
            {run.failures.map((x) => (
              <li key={x.subscriptionId}>
                <Link to="/subscriptions/$id" params={{ id: x.subscriptionId }}>{t.subscription}</Link> <code>{x.code}</code>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={t.invoices}>
        <Text size="sm" c="dimmed">{t.invoicesHint}</Text>
        <DataTable list={list} columns={useColumns()} rowKey={(m) => m.invoiceId} label={t.invoices} empty={<Empty title={t.noInvoices} />} />
      </Section>
      {releasing && <Release of={run} onClose={() => setReleasing(false)} />}
    </Stack>
  )
}

function useColumns(): Column<Made>[] {
  const t = useText(runsText)
  const sum = (amount: number | null, currency: Made['currency']) =>
    amount === null || !currency ? '' : <Money amount={amount} currency={currency} />
  return [
    { id: 'customer', title: t.customer, cell: (m) => <CustomerLink of={m.subscriber} /> },
    { id: 'total', title: t.total, width: 130, narrow: 110, figure: true, cell: (m) => <Link to="/invoices/$id" params={{ id: m.invoiceId }}>{sum(m.total, m.currency) || t.open}</Link> },
    { id: 'before', title: t.before, width: 140, figure: true, wideOnly: true, cell: (m) => (m.before === null ? t.first : sum(m.before, m.currency)) },
    {
      id: 'difference', title: t.difference, width: 130, figure: true, wideOnly: true,
      cell: (m) => (m.total === null || m.before === null ? '' : sum(m.total - m.before, m.currency)),
    },
  ]
}

/** Release lets a held run go on, with a reason that is kept. */
function Release({ of: run, onClose }: { of: Run; onClose: () => void }) {
  const t = useText(runsText)
  const f = useFormat()
  const write = useWrite('post', '/billing/runs/{id}/release', { told: () => t.released, then: onClose })
  return (
    <Confirm
      title={t.release}
      verb={t.release}
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: run.id } }, body: { reason } })}
      onClose={onClose}
    >
      <Text size="sm">{t.releaseDoes(f.number(run.total))}</Text>
    </Confirm>
  )
}

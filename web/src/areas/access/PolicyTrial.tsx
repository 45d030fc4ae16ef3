import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../api/client'
import type { Shape } from '../../api/types'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { dunningText } from '../../text/dunning'
import { useFormat } from '../../text/format'
import { dayAfter, instantOf } from '../../text/instant'
import { policiesText } from '../../text/policies'
import { type Column, DataTable } from '../../ui/DataTable'
import { CustomerLink } from '../../ui/CustomerLink'
import { Form } from '../../ui/Form'
import { Money } from '../../ui/Money'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { dunningTones } from './DunningPage'
import type { Policy } from './policy'

type Trial = Shape<'PreviewResponse'>
type Change = Trial['changes'][number]

const figures = ['subscriptions', 'walledGarden', 'suspended', 'restored'] as const

/** PolicyTrial tells what the policy in the form would have done in the past, beside what the saved one would have. */
export function PolicyTrial({ saved, draft, edited }: { saved: Policy; draft: Policy; edited: boolean }) {
  const t = useText(policiesText)
  const f = useFormat()
  const today = f.date(serverNow())
  const [from, setFrom] = useState(() => dayAfter(today, -60))
  const [to, setTo] = useState(today)
  const run = useMutation({
    mutationFn: async () => {
      const span = {
        from: instantOf(from, f.zone.timezone).toISOString(),
        to: instantOf(to, f.zone.timezone).toISOString(),
      }
      const tried = async (policy: Policy) => (await client.POST('/settings/dunning/preview', { body: { policy, ...span } })).data as Trial
      return { before: await tried(saved), after: edited ? await tried(draft) : null }
    },
  })
  return (
    <Section title={t.trial}>
      <Text size="sm" c="dimmed">{t.trialHint} {t.allPlans}</Text>
      <Form
        busy={run.isPending}
        onSubmit={() => {
          // A policy with a fault in its form is not the one that stands there.
          const fault = document.querySelector<HTMLElement>('#content [data-fault]')
          if (fault) fault.focus()
          else run.mutate()
        }}
      >
        <Group gap="xs" align="end">
          <TextInput
            type="date" label={t.from} value={from} max={to} required withAsterisk={false}
            onChange={(e) => setFrom(e.currentTarget.value)}
          />
          <TextInput
            type="date" label={t.trialUntil} value={to} max={today} required withAsterisk={false}
            onChange={(e) => setTo(e.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={run.isPending}>{t.run}</Button>
        </Group>
      </Form>
      {run.error && <ProblemNote of={run.error} />}
      {run.data && <Outcome before={run.data.before} after={run.data.after} />}
    </Section>
  )
}

function Outcome({ before, after }: { before: Trial; after: Trial | null }) {
  const t = useText(policiesText)
  const f = useFormat()
  const signed = (n: number) => (n > 0 ? `+${f.number(n)}` : n === 0 ? '–' : f.number(n))
  const changes = (after ?? before).changes
  return (
    <Stack gap="sm" role="status">
      <Table verticalSpacing={4} maw={640} withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th fw={500}>{t.measure}</Table.Th>
            <Table.Th fw={500} ta="right">{after ? t.nowSaved : t.onlySaved}</Table.Th>
            {after && <Table.Th fw={500} ta="right">{t.nowEdited}</Table.Th>}
            {after && <Table.Th fw={500} ta="right">{t.change}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {figures.map((name) => (
            <Table.Tr key={name}>
              <Table.Td>{t.figures[name]}</Table.Td>
              <Table.Td ta="right" className="figure">{f.number(before[name])}</Table.Td>
              {after && <Table.Td ta="right" className="figure">{f.number(after[name])}</Table.Td>}
              {after && <Table.Td ta="right" className="figure">{signed(after[name] - before[name])}</Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" fw={500}>{t.changesOf}</Text>
      <Changes of={changes} />
    </Stack>
  )
}

function Changes({ of }: { of: Change[] }) {
  const t = useText(policiesText)
  const states = useText(dunningText).states
  const f = useFormat()
  const state = (s: Change['to']) => <State tone={dunningTones[s] ?? 'quiet'}>{states[s] ?? s}</State>
  const columns: Column<Change>[] = [
    { id: 'at', title: t.at, width: 150, narrow: 104, cell: (c) => f.short(c.at) },
    { id: 'from', title: t.fromState, wideOnly: true, cell: (c) => state(c.from) },
    { id: 'to', title: t.toState, cell: (c) => state(c.to) },
    { id: 'due', title: t.due, width: 120, figure: true, wideOnly: true, cell: (c) => <Money amount={c.due} currency={c.currency} /> },
    {
      id: 'customer', title: t.customer,
      cell: (c) => c.subscriber
        ? <CustomerLink of={c.subscriber} account />
        : <Link to="/subscriptions/$id" params={{ id: c.subscriptionId }}>{t.openCustomer}</Link>,
    },
  ]
  const list = {
    rows: of, hasMore: false, isPending: false, isFetchingMore: false, error: null, changes: 0,
    more: () => undefined, refetch: () => undefined,
  }
  return (
    <DataTable
      list={list}
      columns={columns}
      rowKey={(c) => `${c.subscriptionId} ${c.at} ${c.to}`}
      label={t.changesOf}
      empty={<Text size="sm">{t.noChanges}</Text>}
    />
  )
}

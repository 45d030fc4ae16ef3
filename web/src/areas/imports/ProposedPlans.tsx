import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../api/client'
import { asProblem, type Problem } from '../../api/problem'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { plansText } from '../../text/plans'
import { proposalsText } from '../../text/proposals'
import { commaOrPoint } from '../../ui/decimals'
import { Form } from '../../ui/Form'
import { NumberField } from '../../ui/NumberField'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'
import { bodyOf, type Draft, draftOf, type Figure, isReady, type Proposed, type Terms } from './proposed'

const choices = <T extends string>(names: Record<T, string>) =>
  Object.entries<string>(names).map(([value, label]) => ({ value: value as T, label }))

/** ProposedPlans makes plans of a router's profiles: of those to which somebody gives a price. */
export function ProposedPlans({ of }: { of: Proposed[] }) {
  const t = useText(proposalsText)
  const words = useText(plansText)
  const f = useFormat()
  const may = useMay()
  const queries = useQueryClient()
  const [drafts, setDrafts] = useState<Record<string, Draft>>({})
  const [terms, setTerms] = useState<Terms>({ mode: 'prepaid', period: 'month' })
  const [problems, setProblems] = useState<Record<string, Problem>>({})
  const draft = (p: Proposed) => drafts[p.code] ?? draftOf(p)
  const ready = of.filter((p) => isReady(p, draft(p)))
  // One refusal stops no other plan; what is made is there when the page reads again.
  const making = useMutation({
    mutationFn: async (list: Proposed[]) => {
      const refused: Record<string, Problem> = {}
      for (const p of list) {
        await client.POST('/plans', { body: bodyOf(p, draft(p), terms, f.zone.currency) })
          .catch((cause: unknown) => { refused[p.code] = asProblem(cause) })
      }
      return refused
    },
    onSuccess: async (refused) => {
      setProblems(refused)
      await queries.invalidateQueries({ refetchType: 'active' })
    },
  })
  return (
    <Section title={t.plans}>
      <Text size="sm" c="dimmed" maw={760}>{of.length === 0 ? t.noPlans : t.plansHint}</Text>
      <Form busy={making.isPending} onSubmit={() => making.mutate(ready)}>
        <Stack gap="md">
          {of.map((p) => (
            <PlanRow
              key={p.code} of={p} draft={draft(p)} problem={problems[p.code]}
              onChange={(part) => setDrafts({ ...drafts, [p.code]: { ...draft(p), ...part } })}
            />
          ))}
          {of.some((p) => !p.planId) && may('POST /plans') && (
            <Group align="end" gap="sm">
              <Select
                label={words.period} data={choices(words.periods)} value={terms.period} allowDeselect={false} w={130}
                onChange={(v) => v && setTerms({ ...terms, period: v as Terms['period'] })}
              />
              <Select
                label={words.mode} data={choices(words.modes)} value={terms.mode} allowDeselect={false} w={150}
                onChange={(v) => v && setTerms({ ...terms, mode: v as Terms['mode'] })}
              />
              <Button type="submit" disabled={ready.length === 0} loading={making.isPending}>{t.make(ready.length)}</Button>
              <Text size="sm" c="dimmed" maw={320}>{t.makeHint}</Text>
            </Group>
          )}
        </Stack>
      </Form>
    </Section>
  )
}

/** PlanRow is one profile, with the fields of the plan that it becomes. */
function PlanRow({ of: p, draft, problem, onChange }: {
  of: Proposed
  draft: Draft
  problem: Problem | undefined
  onChange: (part: Partial<Draft>) => void
}) {
  const t = useText(proposalsText)
  const words = useText(plansText)
  const f = useFormat()
  const mbps = (kbits: number) => `${f.number(kbits / 1000)} ${words.mbps}`
  const speed = (label: string, value: Figure, set: (v: Figure) => void, field: string) => (
    <NumberField
      label={label} value={value} onChange={set} error={problem?.of(field)} min={0} decimalScale={3}
      allowedDecimalSeparators={commaOrPoint} hideControls suffix={` ${words.mbps}`} w={150}
    />
  )
  return (
    <Stack gap={4}>
      <Group align="end" gap="sm">
        <Stack gap={0} w={300} miw={0}>
          <Text fw={500} style={{ overflowWrap: 'anywhere' }}>{p.name}</Text>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {words.kinds[p.kind]}, {t.ofProfile(p.profile, p.customers)}
          </Text>
          {p.rateLimit && (
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {p.more || !p.rates ? t.more(p.rateLimit) : t.limit(p.rateLimit)}
            </Text>
          )}
          {p.rates?.burst && <Text size="sm" c="dimmed">{t.burst(mbps(p.rates.burst.down), mbps(p.rates.burst.up))}</Text>}
        </Stack>
        {p.planId ? (
          <Group gap="sm">
            <State tone="good">{t.made}: {p.code}</State>
            <Link to="/plans/$id" params={{ id: p.planId }}>{t.toPlan}</Link>
          </Group>
        ) : (
          <>
            {speed(t.downOf(p.code), draft.down, (down) => onChange({ down }), 'rates.down')}
            {speed(t.upOf(p.code), draft.up, (up) => onChange({ up }), 'rates.up')}
            <NumberField
              label={t.priceOf(p.code)} value={draft.price} onChange={(price) => onChange({ price })}
              error={problem?.of('price')} min={0} amountIn={f.zone.currency} hideControls w={170}
            />
          </>
        )}
      </Group>
      {problem && <ProblemNote of={problem} />}
    </Stack>
  )
}

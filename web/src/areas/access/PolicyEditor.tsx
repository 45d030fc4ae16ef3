import { Button, Group, Paper, Text } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Row } from '../../api/rows'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { policiesText } from '../../text/policies'
import { uiText } from '../../text/ui'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { toneColor } from '../../ui/State'
import { type Policies, type Policy, samePolicy } from './policy'
import { NamePolicy, RemovePolicy, without } from './PolicyDialogs'
import { faultsOf, PolicyFields } from './PolicyFields'
import { PolicyLine } from './PolicyLine'
import { PolicyTrial } from './PolicyTrial'
import { useSavePolicies } from './useSavePolicies'

type Plan = Row<'/plans'>

/** PolicyEditor shows one policy in words and as a line, changes it, and tries the change on the past before. */
export function PolicyEditor({ name, saved, all, plans }: {
  /** name is undefined for the default policy. */
  name: string | undefined
  saved: Policy
  all: Policies
  plans: Plan[] | undefined
}) {
  const t = useText(policiesText)
  const words = useText(uiText)
  const may = useMay()
  const [begun, setBegun] = useState(saved)
  const [draft, setDraft] = useState(saved)
  const edited = !samePolicy(draft, begun)
  // Somebody else has saved this policy meanwhile. Without edits the page simply shows the new one.
  const overtaken = !samePolicy(saved, begun)
  const take = (policy: Policy) => {
    setBegun(policy)
    setDraft(policy)
  }
  if (overtaken && !edited) take(saved)
  const { save, pending, error } = useSavePolicies(t.saved, () => setBegun(draft))
  const writes = may('PUT /settings/dunning')
  return (
    <>
      <Text fw={500}>{t.in(draft.graceDays, draft.walledGardenDays, t.givenUpAfter(draft.writeOffDays))}</Text>
      <Section title={t.line}>
        <PolicyLine of={draft} />
        <Text size="xs" c="dimmed">{t.putOff} {t.prepaid}</Text>
      </Section>
      {writes ? (
        <Section title={t.rules}>
          <form
            onSubmit={(e) => {
              e.preventDefault()
              if (edited && !overtaken && !pending) {
                void save((now) => (name === undefined ? { ...now, default: draft } : { ...now, policies: { ...now.policies, [name]: draft } }))
              }
            }}
          >
            <PolicyFields
              key={JSON.stringify(begun)}
              of={draft}
              faultOf={faultsOf(error, name === undefined ? 'default' : `policies.${name}`)}
              onChange={setDraft}
            />
            {overtaken && edited && !pending && (
              <Paper withBorder p="sm" mt="md" role="alert">
                <Text size="sm" fw={500} c={toneColor('attention')}>{words.editedMeanwhile}</Text>
                <Text size="sm">{words.editedHint}</Text>
                <Button mt="xs" variant="default" onClick={() => take(saved)}>{words.takeTheirs}</Button>
              </Paper>
            )}
            {error && <ProblemNote of={error} />}
            <Group gap="xs" mt="md">
              <Button type="submit" loading={pending} disabled={!edited || overtaken}>{t.save}</Button>
              {edited && <Button variant="default" onClick={() => take(saved)}>{t.discard}</Button>}
              <Text size="xs" c="dimmed">{t.saveDoes}</Text>
            </Group>
          </form>
        </Section>
      ) : <Text size="sm" c="dimmed">{t.readOnly}</Text>}
      {may('POST /settings/dunning/preview') && <PolicyTrial saved={saved} draft={draft} edited={edited} />}
      <Followers name={name} all={all} plans={plans} />
    </>
  )
}

/** Followers are the plans of a policy. Only one that nobody names can be renamed or removed. */
function Followers({ name, all, plans }: { name: string | undefined; all: Policies; plans: Plan[] | undefined }) {
  const t = useText(policiesText)
  const may = useMay()
  const navigate = useNavigate({ from: '/policies' })
  const [doing, setDoing] = useState<'rename' | 'remove' | null>(null)
  // A plan that names a policy which is gone follows the default.
  const named = (p: Plan) => (p.dunningPolicy && all.policies[p.dunningPolicy] ? p.dunningPolicy : undefined)
  const mine = plans?.filter((p) => named(p) === name)
  const go = (next: string | undefined) => {
    setDoing(null)
    void navigate({ search: next === undefined ? {} : { name: next } })
  }
  return (
    <Section
      title={t.plans}
      actions={name !== undefined && mine?.length === 0 && may('PUT /settings/dunning') && (
        <>
          <Button variant="default" size="xs" onClick={() => setDoing('rename')}>{t.rename}</Button>
          <Button variant="default" size="xs" onClick={() => setDoing('remove')}>{t.remove}</Button>
        </>
      )}
    >
      {mine?.length === 0 && <Text size="sm">{t.noPlans}</Text>}
      {mine && mine.length > 0 && (
        <>
          <Text size="sm">{t.plansUse(mine.length)}{name === undefined ? `. ${t.shortPlans}` : `. ${t.inUse}`}</Text>
          <Group gap="md">
            {mine.map((p) => {
              const to: string = `/plans/${p.id}`
              return <Text key={p.id} size="sm"><Link to={to}>{p.name}</Link></Text>
            })}
          </Group>
        </>
      )}
      {doing === 'rename' && name !== undefined && (
        <NamePolicy
          title={t.renameTitle(name)}
          hint={t.renameHint}
          verb={t.rename}
          taken={Object.keys(all.policies)}
          first={name}
          told={() => t.renamed}
          change={(now, next) => {
            const policy = now.policies[name]
            return { policies: policy ? { ...without(now, name), [next]: policy } : now.policies }
          }}
          onDone={go}
          onClose={() => setDoing(null)}
        />
      )}
      {doing === 'remove' && name !== undefined && (
        <RemovePolicy name={name} onDone={() => go(undefined)} onClose={() => setDoing(null)} />
      )}
    </Section>
  )
}

import { Button, Group, Stack, Text } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { All } from '../../api/all'
import type { Row } from '../../api/rows'
import type { Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { policiesText } from '../../text/policies'
import { uiText } from '../../text/ui'
import { EditedNote, type Names } from '../../ui/EditedNote'
import { Form } from '../../ui/Form'
import { Section } from '../../ui/Page'
import { PartNote } from '../../ui/PartNote'
import { SaveBar } from '../../ui/SaveBar'
import { useEdited } from '../../ui/useEdited'
import { inOrder, type Policies, type Policy, type Weekday, without } from './policy'
import { NamePolicy, RemovePolicy } from './PolicyDialogs'
import { faultsOf, PolicyFields, useWeekday } from './PolicyFields'
import { PolicyLine } from './PolicyLine'
import { PolicyTrial } from './PolicyTrial'

type Plan = Row<'/plans'>

/** PolicyEditor shows one policy in words and as a line, changes it, and tries the change on the past before. */
export function PolicyEditor({ name, read, plans, reread }: {
  /** name is undefined for the default policy. */
  name: string | undefined
  read: Versioned<Policies>
  plans: All<Plan>
  reread: () => void
}) {
  const t = useText(policiesText)
  const may = useMay()
  const all = read.value
  const formOf = (of: Policies) => inOrder((name === undefined ? undefined : of.policies[name]) ?? of.default)
  const save = useWrite('put', '/settings/dunning', { told: () => t.saved, shown: () => edited.undo() })
  const edited = useEdited(read, formOf, save.isPending)
  const draft = edited.values
  const names = usePolicyNames()
  // All named policies are replaced together. If-Match keeps what a colleague did to another one meanwhile.
  const body = name === undefined ? { default: draft } : { policies: { ...all.policies, [name]: draft } }
  // What stands in the fields as it was typed goes when they are filled anew.
  const [filled, setFilled] = useState(0)
  const undo = () => {
    edited.undo()
    setFilled(filled + 1)
  }
  return (
    <>
      <Text fw={500}>{t.in(draft.graceDays, draft.walledGardenDays, t.givenUpAfter(draft.writeOffDays))}</Text>
      <Section title={t.line}>
        <PolicyLine of={draft} />
        <Text size="xs" c="dimmed">{t.putOff} {t.prepaid}</Text>
      </Section>
      {may('PUT /settings/dunning') ? (
        <Section title={t.rules}>
          <Form
            busy={save.isPending}
            onSubmit={() => {
              if (edited.dirty && !edited.meanwhile) save.mutate({ headers: edited.headers, body })
            }}
          >
            <Stack gap="md">
              <PolicyFields
                key={filled}
                of={draft}
                faultOf={faultsOf(save.error, name === undefined ? 'default' : `policies.${name}`)}
                onChange={edited.set}
              />
              <EditedNote
                edited={edited}
                names={names}
                error={save.error}
                onTake={() => {
                  save.reset()
                  reread()
                }}
              />
              <SaveBar edited={{ ...edited, undo }} pending={save.isPending} />
              <Text size="xs" c="dimmed">{t.saveDoes}</Text>
            </Stack>
          </Form>
        </Section>
      ) : <Text size="sm" c="dimmed">{t.readOnly}</Text>}
      {may('POST /settings/dunning/preview') && <PolicyTrial saved={formOf(all)} draft={draft} edited={edited.dirty} />}
      <Followers name={name} read={read} plans={plans} />
    </>
  )
}

/** usePolicyNames gives what the form calls its fields. */
function usePolicyNames(): Names<Policy> {
  const t = useText(policiesText)
  const words = useText(uiText)
  const weekday = useWeekday()
  return {
    reminderDays: t.reminderDays,
    graceDays: t.graceDays,
    walledGardenDays: t.walledGardenDays,
    writeOffDays: t.writeOffDays,
    minimumDue: t.minimumDue,
    messageHours: [t.messageHours, (hours) => `${hours.from}–${hours.to}`],
    noCutDays: [`${t.cuts}: ${t.cutWhen.never}`, (days) => days.map((d) => weekday(d as Weekday)).join(', ')],
    noCutAfter: [`${t.cuts}: ${t.cutWhen.before}`, (cuts) => Object.entries(cuts).map(([d, at]) => `${weekday(d as Weekday)} ${at}`).join(', ')],
    skipHolidays: [t.skipHolidays, (on) => (on ? words.yes : words.no)],
  }
}

/** Followers are the plans of a policy. Only one that nobody names can be renamed or removed. */
function Followers({ name, read, plans }: { name: string | undefined; read: Versioned<Policies>; plans: All<Plan> }) {
  const all = read.value
  const t = useText(policiesText)
  const may = useMay()
  const navigate = useNavigate({ from: '/policies' })
  const [doing, setDoing] = useState<'rename' | 'remove' | null>(null)
  // A plan that names a policy which is gone follows the default.
  const named = (p: Plan) => (p.dunningPolicy && all.policies[p.dunningPolicy] ? p.dunningPolicy : undefined)
  const mine = plans.rows?.filter((p) => named(p) === name)
  const go = (next: string | undefined) => {
    setDoing(null)
    void navigate({ search: next === undefined ? {} : { name: next } })
  }
  return (
    <Section
      title={t.plans}
      actions={name !== undefined && plans.whole && mine?.length === 0 && may('PUT /settings/dunning') && (
        <>
          <Button variant="default" size="xs" onClick={() => setDoing('rename')}>{t.rename}</Button>
          <Button variant="default" size="xs" onClick={() => setDoing('remove')}>{t.remove}</Button>
        </>
      )}
    >
      <PartNote of={plans} />
      {plans.whole && mine?.length === 0 && <Text size="sm">{t.noPlans}</Text>}
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
          all={read}
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
        <RemovePolicy name={name} all={read} onDone={() => go(undefined)} onClose={() => setDoing(null)} />
      )}
    </Section>
  )
}

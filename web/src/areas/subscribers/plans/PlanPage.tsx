import { Button, Text } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api/client'
import type { Shape } from '../../../api/types'
import { useWrite } from '../../../api/write'
import { useMay } from '../../../app/person'
import { useText } from '../../../text/catalogue'
import { plansText } from '../../../text/plans'
import { Pencil } from '../../../ui/icons'
import { later } from '../../../ui/later'
import { Loaded } from '../../../ui/Loaded'
import { Page } from '../../../ui/Page'
import { draftOf, patchOf } from './draft'
import { PlanFacts } from './PlanFacts'
import { PlanForm } from './PlanForm'

const ArchivePlan = later(() => import('./ArchivePlan').then((m) => m.ArchivePlan))

type Plan = Shape<'PlanResponse'>

/** PlanPage answers: what does this plan give, and for how much? */
export default function PlanPage() {
  const t = useText(plansText)
  const may = useMay()
  const { id } = useParams({ from: '/plans/$id' })
  const { edit } = useSearch({ from: '/plans/$id' })
  const [archiving, setArchiving] = useState(false)
  const plan = api.useQuery('get', '/plans/{id}', { params: { path: { id } } })
  const p = plan.data
  const editing = edit === true && may('PATCH /plans/{id}')
  const actions = p && !p.archived && !editing && (
    <>
      {may('PATCH /plans/{id}') && (
        <Button
          renderRoot={(props) => <Link {...props} to="/plans/$id" params={{ id }} search={{ edit: true }} />}
          leftSection={<Pencil size={14} aria-hidden />}
        >
          {t.edit}
        </Button>
      )}
      {may('POST /plans/{id}/archive') && (
        <Button variant="default" onClick={() => setArchiving(true)}>{t.archive}</Button>
      )}
    </>
  )
  return (
    <Page title={p ? (editing ? t.editTitle(p.name) : p.name) : t.plan} actions={actions}>
      <Loaded read={plan} height={320}>
        {(of) => (editing ? <Change of={of} /> : <PlanFacts of={of} />)}
      </Loaded>
      {archiving && p && <ArchivePlan of={p} onClose={() => setArchiving(false)} />}
    </Page>
  )
}

/** Change makes the next version of the plan. */
function Change({ of: p }: { of: Plan }) {
  const t = useText(plansText)
  const navigate = useNavigate({ from: '/plans/$id' })
  // What was read when the form was opened: a change by somebody else meanwhile is not undone by saving.
  const [before] = useState(p)
  const [draft, setDraft] = useState(() => draftOf(before))
  const patch = patchOf(before, draft)
  const same = Object.keys(patch).length === 0
  const back = () => void navigate({ to: '/plans/$id', params: { id: p.id }, search: {} })
  const write = useWrite('patch', '/plans/{id}', {
    told: (answer) => ('version' in answer ? t.saved(answer.name, answer.version) : t.accepted),
    then: back,
  })
  return (
    <>
      <Text size="sm" c="dimmed">{t.versionHint(p.version + 1)}</Text>
      <PlanForm
        draft={draft}
        onChange={setDraft}
        verb={t.save}
        note={same ? t.unchanged : undefined}
        pending={write.isPending}
        problem={write.error}
        onSave={() => {
          if (!same) write.mutate({ params: { path: { id: p.id } }, body: patch })
        }}
        onCancel={back}
      />
    </>
  )
}

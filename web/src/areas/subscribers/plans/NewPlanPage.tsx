import { Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../../api/write'
import { useText } from '../../../text/catalogue'
import { plansText } from '../../../text/plans'
import { Page } from '../../../ui/Page'
import { codeFrom, type PlanDraft, termsOf, usual } from './draft'
import { PlanForm } from './PlanForm'

/** NewPlanPage makes a plan; the code follows the name until somebody types another one. */
export default function NewPlanPage() {
  const t = useText(plansText)
  const navigate = useNavigate({ from: '/plans/new' })
  const [draft, setDraft] = useState(usual)
  const write = useWrite('post', '/plans', {
    told: (answer) => ('name' in answer ? t.created(answer.name) : t.accepted),
    then: (answer) => void navigate({ to: '/plans/$id', params: { id: answer.id } }),
  })
  const change = (next: PlanDraft) => {
    const followed = draft.code === codeFrom(draft.name)
    setDraft(followed && next.code === draft.code ? { ...next, code: codeFrom(next.name) } : next)
  }
  return (
    <Page title={t.newPlan}>
      <Text size="sm" c="dimmed">{t.newHint}</Text>
      <PlanForm
        draft={draft}
        onChange={change}
        fresh
        verb={t.create}
        pending={write.isPending}
        problem={write.error}
        onSave={() => write.mutate({ body: { code: draft.code.trim(), ...termsOf(draft) } })}
      />
    </Page>
  )
}

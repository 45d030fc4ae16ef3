import { useNavigate } from '@tanstack/react-router'
import type { Shape } from '../../../api/types'
import { useWrite } from '../../../api/write'
import { useText } from '../../../text/catalogue'
import { plansText } from '../../../text/plans'
import { Confirm } from '../../../ui/Confirm'

/** MovePlan asks whether the customers of older versions of a plan are to have the newest one. */
export function MovePlan({ of: p, onClose }: { of: Shape<'PlanResponse'>; onClose: () => void }) {
  const t = useText(plansText)
  const navigate = useNavigate()
  const write = useWrite('post', '/plans/{id}/move', {
    told: () => t.moveDone,
    then: (answer) => void navigate({ to: '/batches/$id', params: { id: answer.id } }),
  })
  return (
    <Confirm
      title={t.moveTitle(p.name, p.version)}
      verb={t.move}
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: p.id } }, body: { version: p.version, reason } })}
      onClose={onClose}
    >
      {t.moveWhat(t.customersN(outdated(p)))}
    </Confirm>
  )
}

/** outdated counts the customers who have an older version of a plan. */
export function outdated(p: Shape<'PlanResponse'>): number {
  return p.versions.filter((v) => v.version !== p.version).reduce((sum, v) => sum + v.customers, 0)
}

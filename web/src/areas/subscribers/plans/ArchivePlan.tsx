import type { Shape } from '../../../api/types'
import { useWrite } from '../../../api/write'
import { useText } from '../../../text/catalogue'
import { plansText } from '../../../text/plans'
import { Confirm } from '../../../ui/Confirm'

/** ArchivePlan asks whether a plan is to be sold no more. */
export function ArchivePlan({ of: p, onClose }: { of: Shape<'PlanResponse'>; onClose: () => void }) {
  const t = useText(plansText)
  const write = useWrite('post', '/plans/{id}/archive', { told: () => t.archiveDone(p.name), then: onClose })
  return (
    <Confirm
      title={t.archiveTitle(p.name)}
      verb={t.archive}
      danger
      reason="optional"
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: p.id } }, body: { reason } })}
      onClose={onClose}
    >
      {t.archiveWhat}
    </Confirm>
  )
}

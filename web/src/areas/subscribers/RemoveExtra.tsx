import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { extrasText } from '../../text/extras'
import { isolated } from '../../text/isolated'
import { Confirm } from '../../ui/Confirm'
import { type ExtraKind, extraPaths } from './extraKinds'

/** RemoveExtra takes something off the next invoices of a service. */
export function RemoveExtra({ id, kind, of: x, onClose }: {
  id: string
  kind: ExtraKind
  of: { id: string; description: string }
  onClose: () => void
}) {
  const t = useText(extrasText)
  const write = useWrite('delete', extraPaths[kind].remove, { told: () => t.removed, then: onClose })
  return (
    <Confirm
      title={t.removeTitle(isolated(x.description))}
      verb={t.removeVerb}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id, extraId: x.id } } })}
      onClose={onClose}
    >
      {t.removeDoes}
    </Confirm>
  )
}

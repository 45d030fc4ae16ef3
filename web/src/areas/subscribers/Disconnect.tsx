import { useWrite } from '../../api/write'
import { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { Confirm } from '../../ui/Confirm'

/** Disconnect ends a session. A router that could not take the customer back asks for a second word. */
export function Disconnect({ session, onClose }: { session: { id: string; username: string }; onClose: () => void }) {
  const t = useText(customerText)
  const write = useWrite('post', '/sessions/{id}/disconnect', {
    told: (a) => ('ended' in a && a.ended ? t.disconnected : ''),
    then: (a) => {
      if (!('ended' in a) || a.ended) onClose()
    },
  })
  const answer = write.data
  const refused = answer && 'ended' in answer && !answer.ended
  const confirm = refused || write.error?.code === 'confirmation_required'
  const error = refused ? new Problem(502, { message: answer.error, code: 'router_refused' }, null, null) : write.error
  return (
    <Confirm
      title={t.disconnect}
      verb={confirm ? t.disconnectAnyway : t.disconnect}
      danger={confirm}
      reason
      pending={write.isPending}
      error={error}
      onConfirm={(reason) => write.mutate({
        params: { path: { id: session.id }, query: confirm ? { confirm: true } : {} },
        body: { reason },
      })}
      onClose={onClose}
    >
      {t.disconnectDoes(session.username)}
    </Confirm>
  )
}

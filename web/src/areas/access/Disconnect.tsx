import { Problem } from '../../api/problem'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { sessionsText } from '../../text/sessions'
import { Confirm } from '../../ui/Confirm'

/** Disconnect ends a session. Where the device could not come back, or the router is silent, it asks a second time. */
export function Disconnect({ session, onClose }: { session: { id: string; username: string }; onClose: () => void }) {
  const t = useText(sessionsText)
  const write = useWrite('post', '/sessions/{id}/disconnect', {
    told: (a) => ('ended' in a && !a.ended ? '' : t.disconnected),
    then: (a) => {
      if (!('ended' in a) || a.ended) onClose()
    },
  })
  const goesOn = write.data && 'ended' in write.data && !write.data.ended ? write.data : null
  const again = goesOn !== null || write.error?.code === 'confirmation_required'
  // The answer's own words say why it goes on, and what has to be done first.
  const error = goesOn ? new Problem(502, { code: 'router_refused', message: goesOn.error ?? t.notEnded }, null, null) : write.error
  return (
    <Confirm
      title={t.disconnectTitle(session.username || t.unnamed)}
      verb={again ? t.disconnectAnyway : t.disconnect}
      danger
      reason
      pending={write.isPending}
      error={error}
      onConfirm={(reason) => write.mutate({
        params: { path: { id: session.id }, query: again ? { confirm: true } : {} },
        body: { reason },
      })}
      onClose={onClose}
    >
      {t.disconnectDoes}
    </Confirm>
  )
}

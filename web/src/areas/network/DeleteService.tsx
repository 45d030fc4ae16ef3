import { Checkbox, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { servicesText } from '../../text/services'
import { Confirm } from '../../ui/Confirm'
import type { Service } from './words'

/** DeleteService removes a service. Sessions that would end, and a router that is silent, ask for a second word. */
export function DeleteService({ of: s, onClose }: { of: Service; onClose: () => void }) {
  const t = useText(servicesText)
  const navigate = useNavigate()
  const [abandon, setAbandon] = useState(false)
  const [hurdle, setHurdle] = useState<{ sessions: number | null } | null>(null)
  const write = useWrite('delete', '/nas/services/{id}', {
    told: () => (hurdle?.sessions === null && !abandon ? t.removalAsked : t.removed),
    then: () => void navigate({ to: '/routers/$id', params: { id: s.deviceId }, search: { view: 'services' } }),
  })
  const silent = hurdle !== null && hurdle.sessions === null
  const send = () =>
    write.mutate({ params: { path: { id: s.id }, query: { ...(hurdle && { confirm: true }), ...(silent && abandon && { abandon }) } } }, {
      onError: (problem) => {
        if (problem.code === 'confirmation_required') setHurdle({ sessions: Number(problem.details.affectedSessions ?? 0) })
        else if (problem.code === 'device_unreachable') setHurdle({ sessions: null })
      },
    })
  const asked = write.error?.code === 'confirmation_required'
  return (
    <Confirm
      title={t.removeTitle}
      verb={!hurdle ? t.remove : !silent ? t.removeAnyway : abandon ? t.remove : t.removeLater}
      danger
      pending={write.isPending}
      error={asked ? null : write.error}
      onConfirm={send}
      onClose={onClose}
    >
      <Text size="sm">{t.removeDoes}</Text>
      {!hurdle && s.activeSessions > 0 && <Text size="sm" fw={600}>{t.removeSessions(s.activeSessions)}</Text>}
      {hurdle && !silent && <Text size="sm" fw={600} c="var(--tone-bad)">{t.removeSessions(hurdle.sessions ?? 0)}</Text>}
      {silent && (
        <>
          <Text size="sm" fw={600}>{t.removeSilent}</Text>
          <Checkbox
            label={t.abandon}
            description={t.abandonHint}
            checked={abandon}
            onChange={(e) => setAbandon(e.currentTarget.checked)}
          />
        </>
      )}
    </Confirm>
  )
}

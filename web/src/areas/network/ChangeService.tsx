import { Text } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { servicesText } from '../../text/services'
import { Confirm } from '../../ui/Confirm'
import { FormDialog } from '../../ui/FormDialog'
import { Meanwhile } from './Meanwhile'
import { changed, noService, typedOf } from './serviceForm'
import { ServiceFields } from './ServiceFields'
import { matching, useServiceVersion, type Version } from './version'
import type { Service } from './words'

/** ChangeService changes a service. What disconnects customers says how many, and needs a second word. */
export function ChangeService({ id, onClose }: { id: string; onClose: () => void }) {
  const read = useServiceVersion(id)
  const [took, setTook] = useState(0)
  return (
    <Form
      key={`${took}${read.data === undefined}`}
      id={id}
      now={read.data}
      error={read.error}
      onTake={() => setTook((n) => n + 1)}
      onClose={onClose}
    />
  )
}

function Form({ id, now, error, onTake, onClose }: {
  id: string
  now: Version<Service> | undefined
  error: unknown
  onTake: () => void
  onClose: () => void
}) {
  const t = useText(servicesText)
  const [before] = useState(() => (now ? typedOf(now.of) : noService))
  const [typed, setTyped] = useState(before)
  const write = useWrite('patch', '/nas/services/{id}', { told: () => t.changed, then: onClose })
  const body = changed(before, typed)
  const meanwhile = now !== undefined && JSON.stringify(typedOf(now.of)) !== JSON.stringify(before) && !write.isPending && !write.isSuccess
  const [sessions, setSessions] = useState<number | null>(null)
  const send = (confirm: boolean) =>
    write.mutate({ params: { path: { id }, query: confirm ? { confirm: true } : {} }, body, ...matching(now?.tag ?? null) }, {
      onError: (problem) => {
        if (problem.code === 'confirmation_required') setSessions(Number(problem.details.affectedSessions ?? 0))
      },
    })
  if (sessions !== null) {
    return (
      <Confirm
        title={t.disconnects(sessions)}
        verb={sessions === 0 ? t.change : t.changeAnyway}
        danger={sessions > 0}
        pending={write.isPending}
        error={write.error?.code === 'confirmation_required' ? null : write.error}
        onConfirm={() => send(true)}
        onClose={() => {
          write.reset()
          setSessions(null)
        }}
      >
        {t.disconnectsAll(sessions)}
      </Confirm>
    )
  }
  return (
    <FormDialog
      title={t.changeTitle}
      verb={t.save}
      ready={now !== undefined && !meanwhile && Object.keys(body).length > 0}
      pending={write.isPending}
      error={write.error ?? error}
      onSubmit={() => send(false)}
      onClose={onClose}
    >
      <Text size="sm" c="dimmed">{t.changeHint}</Text>
      {now && now.of.type !== 'cpe-management' && <Text size="sm" fw={600} mih={20}>{t.onNow(now.of.activeSessions)}</Text>}
      {meanwhile && <Meanwhile onTake={onTake} />}
      {now && (
        <ServiceFields device={now.of.deviceId} value={typed} own={before.parentInterface} onChange={setTyped} problem={write.error} />
      )}
    </FormDialog>
  )
}

import { Text } from '@mantine/core'
import { useState } from 'react'
import { useVersioned, type Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { servicesText } from '../../text/services'
import { Confirm } from '../../ui/Confirm'
import { EditedNote } from '../../ui/EditedNote'
import { FormDialog } from '../../ui/FormDialog'
import { useEdited } from '../../ui/useEdited'
import { changed, noService, type TypedService, typedOf } from './serviceForm'
import { ServiceFields } from './ServiceFields'
import type { Service } from './words'

/** ChangeService changes a service. What disconnects customers says how many, and needs a second word. */
export function ChangeService({ id, onClose }: { id: string; onClose: () => void }) {
  // What another dialog read before is no beginning: it is old, and typing keeps what it began with.
  const read = useVersioned('/nas/services/{id}', { params: { path: { id } } }, { gcTime: 0 })
  return (
    <Form
      key={String(read.data === undefined)}
      id={id}
      read={read.data}
      error={read.error}
      reread={() => void read.refetch()}
      onClose={onClose}
    />
  )
}

const nothing: Versioned<Service | null> = { value: null, etag: null }

const formOf = (s: Service | null) => (s ? typedOf(s) : noService)

function Form({ id, read, error, reread, onClose }: {
  id: string
  /** read is undefined until the service has been read. */
  read: Versioned<Service> | undefined
  error: unknown
  reread: () => void
  onClose: () => void
}) {
  const t = useText(servicesText)
  const write = useWrite('patch', '/nas/services/{id}', { told: () => t.changed, then: onClose })
  const edited = useEdited<Service | null, TypedService>(read ?? nothing, formOf, write.isPending || write.isSuccess)
  const now = read?.value
  const body = changed(formOf(now ?? null), edited.values)
  const [sessions, setSessions] = useState<number | null>(null)
  const send = (confirm: boolean) =>
    write.mutate({ params: { path: { id }, query: confirm ? { confirm: true } : {} }, body, headers: edited.headers }, {
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
      ready={edited.dirty && !edited.meanwhile && Object.keys(body).length > 0}
      pending={write.isPending}
      error={read ? null : error}
      onSubmit={() => send(false)}
      onClose={onClose}
    >
      <Text size="sm" c="dimmed">{t.changeHint}</Text>
      {now && now.type !== 'cpe-management' && <Text size="sm" fw={600} mih={20}>{t.onNow(now.activeSessions)}</Text>}
      {now && (
        <ServiceFields device={now.deviceId} value={edited.values} own={now.parentInterface} onChange={edited.set} problem={write.error} />
      )}
      <EditedNote
        edited={edited}
        names={{
          type: [t.service, (type) => t.types[type] ?? type], parentInterface: t.interface, vlanId: t.vlanId, subnet: t.subnet,
          gateway: t.gateway, poolStart: t.poolStart, poolEnd: t.poolEnd, domains: t.domains, addresses: t.gardenAddresses,
        }}
        error={write.error}
        onTake={() => {
          write.reset()
          reread()
        }}
      />
    </FormDialog>
  )
}

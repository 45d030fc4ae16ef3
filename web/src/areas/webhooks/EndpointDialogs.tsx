import { NativeSelect } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { webhooksText } from '../../text/webhooks'
import { Confirm } from '../../ui/Confirm'
import { EditedNote } from '../../ui/EditedNote'
import { FormDialog } from '../../ui/FormDialog'
import { useEdited } from '../../ui/useEdited'
import { EndpointFields, type TypedEndpoint } from './EndpointFields'
import { SecretShown } from './SecretShown'
import type { Endpoint } from './words'

/** RegisterEndpoint registers an address, shows its secret once, and leads to its page. */
export function RegisterEndpoint({ onClose }: { onClose: () => void }) {
  const t = useText(webhooksText)
  const navigate = useNavigate()
  const [typed, setTyped] = useState<TypedEndpoint>(() => ({ url: '', description: '', types: Object.keys(t.typeHints) }))
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null)
  const write = useWrite('post', '/webhook-endpoints', { told: () => t.registeredNow, then: setMade })
  if (made) {
    return <SecretShown secret={made.secret} onClose={() => void navigate({ to: '/webhooks/$id', params: { id: made.id } })} />
  }
  const { url, description, types } = typed
  return (
    <FormDialog
      title={t.register}
      hint={t.registerHint}
      verb={t.register}
      ready={url.trim() !== '' && types.length > 0}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ body: { url: url.trim(), types, description: description.trim() || undefined } })}
      onClose={onClose}
    >
      <EndpointFields of={typed} set={(part) => setTyped((v) => ({ ...v, ...part }))} problem={write.error} />
    </FormDialog>
  )
}

const formOf = (e: Endpoint): TypedEndpoint => ({ url: e.url, description: e.description ?? '', types: e.types })

/** ChangeEndpoint changes the address, and what it is told of. */
export function ChangeEndpoint({ read, reread, onClose }: { read: Versioned<Endpoint>; reread: () => void; onClose: () => void }) {
  const t = useText(webhooksText)
  const write = useWrite('patch', '/webhook-endpoints/{id}', { told: () => t.changed, then: onClose })
  const edited = useEdited(read, formOf, write.isPending || write.isSuccess)
  const { url, description, types } = edited.values
  return (
    <FormDialog
      title={t.editTitle}
      verb={t.edit}
      ready={edited.dirty && !edited.meanwhile && types.length > 0}
      pending={write.isPending}
      error={null}
      onSubmit={() => write.mutate({
        params: { path: { id: read.value.id } }, headers: edited.headers,
        body: { url: url.trim(), types, description: description.trim() || null },
      })}
      onClose={onClose}
    >
      <EndpointFields of={edited.values} set={edited.set} problem={write.error} />
      <EditedNote
        edited={edited}
        names={{ url: t.address, description: t.description, types: [t.types, (all) => all.map((of) => t.typeNames[of] ?? of).join(', ')] }}
        error={write.error}
        onTake={() => {
          write.reset()
          reread()
        }}
      />
    </FormDialog>
  )
}

// As long as the API takes when nothing is asked for.
const usualOverlap = '24'

/** RotateSecret replaces the secret, and shows the new one once. */
export function RotateSecret({ of: e, onClose }: { of: Endpoint; onClose: () => void }) {
  const t = useText(webhooksText)
  const [hours, setHours] = useState(usualOverlap)
  const [made, setMade] = useState<{ secret: string; formerUntil: string | null } | null>(null)
  const write = useWrite('post', '/webhook-endpoints/{id}/rotate-secret', {
    told: () => t.rotated,
    then: (a) => setMade({ secret: a.secret, formerUntil: 'formerSecretUntil' in a ? a.formerSecretUntil : null }),
  })
  if (made) return <SecretShown {...made} onClose={onClose} />
  return (
    <FormDialog
      title={t.rotate}
      hint={t.rotateHint}
      verb={t.rotate}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ params: { path: { id: e.id } }, body: { overlapHours: Number(hours) } })}
      onClose={onClose}
    >
      <NativeSelect
        label={t.overlap} description={t.overlapHint} value={hours} onChange={(v) => setHours(v.currentTarget.value)}
        data={Object.entries(t.overlaps).map(([value, label]) => ({ value, label }))} data-autofocus
      />
    </FormDialog>
  )
}

/** SwitchEndpoint pauses an address, or enables it again. */
export function SwitchEndpoint({ of: e, onClose }: { of: Endpoint; onClose: () => void }) {
  const t = useText(webhooksText)
  const on = e.state === 'enabled'
  const write = useWrite('patch', '/webhook-endpoints/{id}', { told: () => (on ? t.paused : t.enabled), then: onClose })
  return (
    <Confirm
      title={on ? t.pauseTitle : t.enableTitle}
      verb={on ? t.pause : t.enable}
      danger={on}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: e.id } }, body: { state: on ? 'disabled' : 'enabled' } })}
      onClose={onClose}
    >
      {on ? t.pauseHint : t.enableHint}
    </Confirm>
  )
}

/** RemoveEndpoint deletes an address for good. */
export function RemoveEndpoint({ of: e, onClose }: { of: Endpoint; onClose: () => void }) {
  const t = useText(webhooksText)
  const navigate = useNavigate()
  const write = useWrite('delete', '/webhook-endpoints/{id}', {
    told: () => t.removed,
    then: () => void navigate({ to: '/webhooks' }),
  })
  return (
    <Confirm
      title={t.removeTitle}
      verb={t.remove}
      danger
      typed={new URL(e.url).host}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: e.id } } })}
      onClose={onClose}
    >
      {t.removeHint}
    </Confirm>
  )
}

import { Textarea, TextInput } from '@mantine/core'
import { useVersioned, type Versioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { EditedNote } from '../../ui/EditedNote'
import { FormDialog } from '../../ui/FormDialog'
import { useEdited } from '../../ui/useEdited'
import { addressesOf, addressesTyped } from './addresses'

type Service = Shape<'SubscriptionResponse'>

/** Addresses changes which devices may sign in, and the fixed address. */
export function Addresses({ id, plan, onClose }: { id: string; plan: string; onClose: () => void }) {
  // What another dialog read before is no beginning: it is old, and typing keeps what it began with.
  const read = useVersioned('/subscriptions/{id}', { params: { path: { id } } }, { gcTime: 0 })
  return (
    <Form
      key={String(read.data === undefined)}
      id={id}
      plan={plan}
      read={read.data}
      error={read.error}
      reread={() => void read.refetch()}
      onClose={onClose}
    />
  )
}

const nothing: Versioned<Service | null> = { value: null, etag: null }

function Form({ id, plan, read, error, reread, onClose }: {
  id: string
  plan: string
  /** read is undefined until the service has been read. */
  read: Versioned<Service> | undefined
  error: unknown
  reread: () => void
  onClose: () => void
}) {
  const t = useText(customerText)
  const write = useWrite('patch', '/subscriptions/{id}', { told: () => t.saved, then: onClose })
  const edited = useEdited<Service | null, ReturnType<typeof addressesOf>>(read ?? nothing, addressesOf, write.isPending || write.isSuccess)
  const { values, set } = edited
  const body = addressesTyped(addressesOf(read?.value ?? null), values)
  return (
    <FormDialog
      title={t.addressesTitle(plan)}
      verb={t.save}
      ready={edited.dirty && !edited.meanwhile && Object.keys(body).length > 0}
      pending={write.isPending}
      error={read ? null : error}
      onSubmit={() => write.mutate({ params: { path: { id } }, body, headers: edited.headers })}
      onClose={onClose}
    >
      <Textarea
        label={t.macs} description={t.macsHint} value={values.macs} onChange={(e) => set({ macs: e.currentTarget.value })} autosize minRows={2}
        error={write.error?.of('macAddresses')} disabled={read === undefined} data-autofocus
      />
      <TextInput
        label={t.staticIp} description={t.staticHint} value={values.staticIp} onChange={(e) => set({ staticIp: e.currentTarget.value })}
        error={write.error?.of('staticIp')} disabled={read === undefined}
      />
      <Textarea
        label={t.routes} description={t.routesHint} value={values.routes} onChange={(e) => set({ routes: e.currentTarget.value })} autosize
        minRows={1} error={write.error?.of('routes')} disabled={read === undefined}
      />
      <EditedNote
        edited={edited}
        names={{ macs: t.macs, staticIp: t.staticIp, routes: t.routes }}
        error={write.error}
        onTake={() => {
          write.reset()
          reread()
        }}
      />
    </FormDialog>
  )
}

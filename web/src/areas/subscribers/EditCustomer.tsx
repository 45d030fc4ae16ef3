import { useVersioned, type Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { languages, useText } from '../../text/catalogue'
import { subscribersText } from '../../text/subscribers'
import { uiText } from '../../text/ui'
import { EditedNote } from '../../ui/EditedNote'
import { FormDialog } from '../../ui/FormDialog'
import { useEdited } from '../../ui/useEdited'
import { corrected, CustomerFields, nobody, typedOf } from './CustomerFields'
import type { Customer } from './words'

/** EditCustomer changes the details. What two people change at once is brought together before the second can save. */
export function EditCustomer({ id, onClose }: { id: string; onClose: () => void }) {
  // What another dialog read before is no beginning: it is old, and typing keeps what it began with.
  const read = useVersioned('/subscribers/{id}', { params: { path: { id } } }, { gcTime: 0 })
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

const nothing: Versioned<Customer | null> = { value: null, etag: null }

const formOf = (c: Customer | null) => (c ? typedOf(c) : nobody)

function Form({ id, read, error, reread, onClose }: {
  id: string
  /** read is undefined until the customer has been read. */
  read: Versioned<Customer> | undefined
  error: unknown
  reread: () => void
  onClose: () => void
}) {
  const t = useText(subscribersText)
  const words = useText(uiText)
  const write = useWrite('patch', '/subscribers/{id}', { told: () => t.saved, then: onClose })
  const edited = useEdited<Customer | null, typeof nobody>(read ?? nothing, formOf, write.isPending || write.isSuccess)
  const body = corrected(formOf(read?.value ?? null), edited.values)
  return (
    <FormDialog
      title={t.editTitle}
      verb={t.save}
      ready={edited.dirty && !edited.meanwhile && Object.keys(body).length > 0}
      pending={write.isPending}
      error={read ? null : error}
      onSubmit={() => write.mutate({ params: { path: { id } }, body, headers: edited.headers })}
      onClose={onClose}
    >
      <CustomerFields value={edited.values} onChange={edited.set} problem={write.error} disabled={read === undefined} />
      <EditedNote
        edited={edited}
        names={{
          firstName: t.firstName, lastName: t.lastName, phone: t.phone, secondPhone: t.secondPhone, email: t.email,
          address: t.address, taxPin: t.taxPin, tags: t.tags, notes: t.notes,
          language: [t.language, (language) => (language ? languages[language] : t.asOrganization)],
          onlyNeeded: [t.onlyNeeded, (on) => (on ? words.yes : words.no)],
          whatsApp: [t.whatsApp, (on) => (on ? words.yes : words.no)],
          messageSecond: [t.messageSecond, (on) => (on ? words.yes : words.no)],
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

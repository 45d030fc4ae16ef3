import { useState } from 'react'
import { ifUnchanged, type Versioned } from '../api/versioned'
import { type Edits, merged, type Secrets, taken, withPart } from './edited'

/** Edited is a form's content, and what happened to the thing behind it while somebody typed. */
export interface Edited<F> {
  values: F
  set: (part: Partial<F>) => void
  dirty: boolean
  meanwhile: boolean
  /** undo forgets what was typed, and shows what was read last. */
  undo: () => void
  /** take goes on with the new values of somebody else, and with what was typed into fields that he left alone. */
  take: () => void
  /** lost is what was typed into fields that have somebody else's values now. */
  lost: Partial<F>
  /** forget ends telling of it. */
  forget: () => void
  /** headers go with the write: a change that this person has not seen makes the server refuse it (412). */
  headers: { 'If-Match'?: string }
}

/**
 * useEdited keeps what is typed into a form for a thing that others may change at the same time. Any form uses it so:
 *
 *     const read = useVersioned('/settings/organization', {})
 *     <Loaded read={read} height={400}>{(org) => <OrganizationForm org={org} reread={read.refetch} />}</Loaded>
 *
 *     const save = useWrite('put', '/settings/organization', { told: () => t.saved, then: () => edited.undo() })
 *     const edited = useEdited(org, formOf, save.isPending)
 *     <TextInput value={edited.values.name} onChange={(e) => edited.set({ name: e.currentTarget.value })} />
 *     <EditedNote edited={edited} names={{ name: t.name }} error={save.error} onTake={() => { save.reset(); reread() }} />
 *     <Button onClick={() => save.mutate({ headers: edited.headers, body: edited.values })} />
 *
 * The read behind it is repeated when the stream tells of a change. Untouched, the form shows the new values at once;
 * otherwise what was typed stays and EditedNote offers to take the new values beside it. `saving` keeps the own write
 * from looking like somebody else's. `secrets` are fields of which nobody sees what a colleague has typed.
 */
export function useEdited<V, F extends object>(
  read: Versioned<V>,
  form: (value: V) => F,
  saving: boolean,
  secrets?: Secrets<F>,
): Edited<F> {
  const [edits, setEdits] = useState<Edits<V, F> | null>(null)
  // A save can be refused before the new values have been read: they are taken when they come.
  if (edits?.waits && edits.waits.not !== read.etag) setEdits(taken(read, edits, form, secrets))
  const now = merged(read, edits, form)
  return {
    values: now.values,
    dirty: now.dirty,
    meanwhile: now.meanwhile && !saving,
    set: (part) => setEdits((e) => withPart(read, e, form, part)),
    undo: () => setEdits(null),
    take: () => setEdits((e) => e && (now.meanwhile ? taken(read, e, form, secrets) : { ...e, waits: { not: read.etag } })),
    lost: edits?.lost ?? {},
    forget: () => setEdits((e) => e && { ...e, lost: undefined }),
    headers: ifUnchanged(now.etag),
  }
}

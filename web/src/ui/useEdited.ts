import { useState } from 'react'
import { ifUnchanged, type Versioned } from '../api/versioned'
import { type Edits, merged } from './edited'

/** Edited is a form's content, and what happened to the thing behind it while somebody typed. */
export interface Edited<F> {
  values: F
  set: (part: Partial<F>) => void
  dirty: boolean
  meanwhile: boolean
  /** undo forgets what was typed, and shows what was read last. */
  undo: () => void
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
 *     <EditedNote edited={edited} error={save.error} onTake={() => { save.reset(); reread() }} />
 *     <Button onClick={() => save.mutate({ headers: edited.headers, body: edited.values })} />
 *
 * The read behind it is repeated when the stream tells of a change. Untouched, the form shows the new values at once;
 * otherwise what was typed stays and EditedNote offers the new values. `saving` keeps the own write from looking like
 * somebody else's.
 */
export function useEdited<V, F extends object>(
  read: Versioned<V>,
  form: (value: V) => F,
  saving: boolean,
): Edited<F> {
  const [edits, setEdits] = useState<Edits<V, F> | null>(null)
  const now = merged(read, edits, form)
  return {
    values: now.values,
    dirty: now.dirty,
    meanwhile: now.meanwhile && !saving,
    set: (part) => setEdits((e) => ({ base: e?.base ?? read, values: { ...(e?.values ?? form(read.value)), ...part } })),
    undo: () => setEdits(null),
    headers: ifUnchanged(now.etag),
  }
}

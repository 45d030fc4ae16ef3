import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { ifUnchanged, type Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { policiesText } from '../../text/policies'
import { Confirm } from '../../ui/Confirm'
import { FormDialog } from '../../ui/FormDialog'
import { type Policies, without } from './policy'

/** NamePolicy asks for the name of a policy, new or another one, and saves it. */
export function NamePolicy({ title, hint, verb, all, first = '', told, change, onDone, onClose }: {
  title: string
  hint: string
  verb: string
  all: Versioned<Policies>
  first?: string
  told: (name: string) => string
  change: (now: Policies, name: string) => Shape<'DunningRequest'>
  onDone: (name: string) => void
  onClose: () => void
}) {
  const t = useText(policiesText)
  const [name, setName] = useState(first)
  const save = useWrite('put', '/settings/dunning', { told: () => told(name), shown: () => onDone(name) })
  const free = all.value.policies[name] === undefined
  return (
    <FormDialog
      title={title}
      hint={hint}
      verb={verb}
      ready={/^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/.test(name) && free}
      pending={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate({ headers: ifUnchanged(all.etag), body: change(all.value, name) })}
      onClose={onClose}
    >
      <TextInput
        label={t.name}
        description={t.nameHint}
        value={name}
        onChange={(e) => setName(e.currentTarget.value.trim())}
        error={!free && name !== first && t.nameTaken}
        maxLength={50}
        required
        withAsterisk={false}
        autoComplete="off"
        data-autofocus
      />
    </FormDialog>
  )
}

/** RemovePolicy takes a policy away that no plan names. */
export function RemovePolicy({ name, all, onDone, onClose }: {
  name: string
  all: Versioned<Policies>
  onDone: () => void
  onClose: () => void
}) {
  const t = useText(policiesText)
  const save = useWrite('put', '/settings/dunning', { told: () => t.removed, shown: onDone })
  return (
    <Confirm
      title={t.removeTitle(name)}
      verb={t.remove}
      danger
      pending={save.isPending}
      error={save.error}
      onConfirm={() => save.mutate({ headers: ifUnchanged(all.etag), body: { policies: without(all.value, name) } })}
      onClose={onClose}
    >
      {t.removeDoes}
    </Confirm>
  )
}

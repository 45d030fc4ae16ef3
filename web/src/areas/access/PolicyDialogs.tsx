import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { policiesText } from '../../text/policies'
import { Confirm } from '../../ui/Confirm'
import { FormDialog } from '../../ui/FormDialog'
import type { Policies } from './policy'
import { useSavePolicies } from './useSavePolicies'

/** NamePolicy asks for the name of a policy, new or another one, and saves it. */
export function NamePolicy({ title, hint, verb, taken, first = '', told, change, onDone, onClose }: {
  title: string
  hint: string
  verb: string
  /** taken are the names that other policies have. */
  taken: string[]
  first?: string
  told: (name: string) => string
  change: (now: Policies, name: string) => Shape<'DunningRequest'>
  onDone: (name: string) => void
  onClose: () => void
}) {
  const t = useText(policiesText)
  const [name, setName] = useState(first)
  const { save, pending, error } = useSavePolicies(told(name), () => onDone(name))
  const free = !taken.includes(name)
  return (
    <FormDialog
      title={title}
      hint={hint}
      verb={verb}
      ready={/^[A-Za-z0-9][A-Za-z0-9_-]{0,49}$/.test(name) && free}
      pending={pending}
      error={error}
      onSubmit={() => void save((now) => change(now, name))}
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
export function RemovePolicy({ name, onDone, onClose }: { name: string; onDone: () => void; onClose: () => void }) {
  const t = useText(policiesText)
  const { save, pending, error } = useSavePolicies(t.removed, onDone)
  return (
    <Confirm
      title={t.removeTitle(name)}
      verb={t.remove}
      danger
      pending={pending}
      error={error}
      onConfirm={() => void save((now) => ({ policies: without(now, name) }))}
      onClose={onClose}
    >
      {t.removeDoes}
    </Confirm>
  )
}

/** without leaves one named policy out. */
export function without(now: Policies, name: string): Policies['policies'] {
  const { [name]: _, ...others } = now.policies
  return others
}

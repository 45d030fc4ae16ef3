import { SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { subscribersText } from '../../text/subscribers'
import { type Customer, tagsOf } from './words'

/** Typed is what a form about a customer holds. */
interface Typed {
  firstName: string
  lastName: string
  phone: string
  email: string
  address: string
  taxPin: string
  tags: string
  notes: string
}

export const nobody: Typed = { firstName: '', lastName: '', phone: '', email: '', address: '', taxPin: '', tags: '', notes: '' }

/** typedOf is a form that holds a customer as it is. */
export function typedOf(c: Customer): Typed {
  return {
    firstName: c.firstName ?? '', lastName: c.lastName ?? '', phone: c.phone ?? '', email: c.email ?? '',
    address: c.address ?? '', taxPin: c.taxPin ?? '', tags: c.tags.join(', '), notes: c.notes ?? '',
  }
}

/** registered is the body of the call that registers: what is empty is left out. */
export function registered(v: Typed) {
  const some = (text: string) => text.trim() || undefined
  return {
    firstName: v.firstName.trim(), phone: v.phone.trim(), lastName: some(v.lastName), email: some(v.email),
    address: some(v.address), taxPin: some(v.taxPin), notes: some(v.notes), tags: tagsOf(v.tags),
  }
}

/** corrected is the body of the call that changes: only what differs, so that others' changes stay. */
export function corrected(before: Typed, after: Typed) {
  const body: { [K in Exclude<keyof Typed, 'tags'>]?: string | null } & { tags?: string[] } = {}
  for (const name of ['firstName', 'lastName', 'phone', 'email', 'address', 'taxPin', 'notes'] as const) {
    const text = after[name].trim()
    if (text !== before[name]) body[name] = text || null
  }
  const tags = tagsOf(after.tags)
  if (tags.join() !== tagsOf(before.tags).join()) body.tags = tags
  return body
}

/** CustomerFields are the inputs about a customer. */
export function CustomerFields({ value, onChange, problem, disabled }: {
  value: Typed
  onChange: (next: Typed) => void
  problem: Problem | null
  disabled?: boolean
}) {
  const t = useText(subscribersText)
  const [missing, setMissing] = useState<string[]>([])
  const input = (name: keyof Typed) => ({
    label: t[name],
    value: value[name],
    onChange: (e: { currentTarget: { value: string } }) => onChange({ ...value, [name]: e.currentTarget.value }),
    error: problem?.of(name) ?? (missing.includes(name) && !value[name] ? t.missing : undefined),
    disabled,
    autoComplete: 'off',
    // The browser's own words are in the browser's language, beside no field.
    onInvalid: (e: FormEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      e.preventDefault()
      setMissing((all) => [...all, name])
      if (e.currentTarget.form?.querySelector('input:invalid') === e.currentTarget) e.currentTarget.focus()
    },
  })
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
        <TextInput {...input('firstName')} required withAsterisk={false} data-autofocus />
        <TextInput {...input('lastName')} />
        <TextInput {...input('phone')} type="tel" description={t.phoneHint} inputWrapperOrder={inputLast} required withAsterisk={false} />
        <TextInput {...input('email')} type="email" />
        <TextInput {...input('address')} />
        <TextInput {...input('taxPin')} description={t.taxPinHint} inputWrapperOrder={inputLast} maxLength={50} />
        <TextInput {...input('tags')} description={t.tagsHint} inputWrapperOrder={inputLast} />
      </SimpleGrid>
      <Textarea {...input('notes')} description={t.notesHint} inputWrapperOrder={inputLast} autosize minRows={2} />
    </Stack>
  )
}

// Descriptions stand below, so that inputs of one row line up.
const inputLast: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error']

import { Checkbox, NativeSelect, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { Problem } from '../../api/problem'
import { type Language, languages, useText } from '../../text/catalogue'
import { subscribersText } from '../../text/subscribers'
import { type Customer, tagsOf } from './words'

/** Typed is what a form about a customer holds. */
interface Typed {
  firstName: string
  lastName: string
  phone: string
  secondPhone: string
  email: string
  address: string
  taxPin: string
  tags: string
  notes: string
  /** language is that of messages; "" = as the organization does. */
  language: Language | ''
  onlyNeeded: boolean
  whatsApp: boolean
  messageSecond: boolean
}

/** Written are the fields into which somebody types. */
type Written = Exclude<keyof Typed, 'language' | 'onlyNeeded' | 'whatsApp' | 'messageSecond'>

export const nobody: Typed = {
  firstName: '', lastName: '', phone: '', secondPhone: '', email: '', address: '', taxPin: '', tags: '', notes: '', language: '',
  onlyNeeded: false, whatsApp: false, messageSecond: false,
}

/** typedOf is a form that holds a customer as it is. */
export function typedOf(c: Customer): Typed {
  return {
    firstName: c.firstName ?? '', lastName: c.lastName ?? '', phone: c.phone ?? '', secondPhone: c.secondPhone ?? '', email: c.email ?? '',
    address: c.address ?? '', taxPin: c.taxPin ?? '', tags: c.tags.join(', '), notes: c.notes ?? '',
    language: c.language ?? '', onlyNeeded: c.onlyNeeded, whatsApp: c.whatsApp,
    messageSecond: c.messageSecond,
  }
}

/** registered is the body of the call that registers: what is empty is left out. */
export function registered(v: Typed) {
  const some = (text: string) => text.trim() || undefined
  return {
    firstName: v.firstName.trim(), phone: v.phone.trim(), secondPhone: some(v.secondPhone), lastName: some(v.lastName), email: some(v.email),
    address: some(v.address), taxPin: some(v.taxPin), notes: some(v.notes), tags: tagsOf(v.tags),
    language: v.language || undefined, onlyNeeded: v.onlyNeeded || undefined, whatsApp: v.whatsApp || undefined,
    messageSecond: v.messageSecond || undefined,
  }
}

/** corrected is the body of the call that changes: only what differs, so that others' changes stay. */
export function corrected(before: Typed, after: Typed) {
  const body: { [K in Exclude<Written, 'tags'>]?: string | null } & { tags?: string[]; language?: Language | null; onlyNeeded?: boolean; whatsApp?: boolean; messageSecond?: boolean } = {}
  for (const name of ['firstName', 'lastName', 'phone', 'secondPhone', 'email', 'address', 'taxPin', 'notes'] as const) {
    const text = after[name].trim()
    if (text !== before[name]) body[name] = text || null
  }
  const tags = tagsOf(after.tags)
  if (tags.join() !== tagsOf(before.tags).join()) body.tags = tags
  if (after.language !== before.language) body.language = after.language || null
  for (const name of ['onlyNeeded', 'whatsApp', 'messageSecond'] as const) if (after[name] !== before[name]) body[name] = after[name]
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
  const input = (name: Written) => ({
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
        <TextInput {...input('secondPhone')} type="tel" />
        <TextInput {...input('email')} type="email" />
        <TextInput {...input('address')} />
        <TextInput {...input('taxPin')} description={t.taxPinHint} inputWrapperOrder={inputLast} maxLength={50} />
        <TextInput {...input('tags')} description={t.tagsHint} inputWrapperOrder={inputLast} />
        <NativeSelect
          label={t.language}
          value={value.language}
          onChange={(e) => onChange({ ...value, language: e.currentTarget.value as Typed['language'] })}
          data={[{ value: '', label: t.asOrganization }, ...Object.entries(languages).map(([of, name]) => ({ value: of, label: name }))]}
          error={problem?.of('language')}
          disabled={disabled}
        />
      </SimpleGrid>
      {([['onlyNeeded', t.onlyNeededHint], ['whatsApp', t.whatsAppHint], ['messageSecond', t.messageSecondHint]] as const).map(([name, hint]) => (
        <Checkbox
          key={name} label={t[name]} description={hint} checked={value[name]} disabled={disabled}
          onChange={(e) => onChange({ ...value, [name]: e.currentTarget.checked })}
        />
      ))}
      <Textarea {...input('notes')} description={t.notesHint} inputWrapperOrder={inputLast} autosize minRows={2} />
    </Stack>
  )
}

// Descriptions stand below, so that inputs of one row line up.
const inputLast: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error']

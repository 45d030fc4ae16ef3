import { Button, Group, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { secondFactorText } from '../../text/secondFactor'
import { FormDialog } from '../../ui/FormDialog'
import { Section } from '../../ui/Page'
import { isDeviceCode, typedCode } from './factorCode'
import { useAsking } from './useAsking'

/** OwnAddresses changes the e-mail address and the phone of this person, by codes to the old and the new one. */
export function OwnAddresses() {
  const t = useText(secondFactorText)
  const [kind, setKind] = useState<'email' | 'phone' | null>(null)
  return (
    <Section title={t.addresses}>
      <Text size="sm" c="dimmed">{t.addressesHint}</Text>
      <Group gap="xs">
        <Button variant="default" size="sm" onClick={() => setKind('email')}>{t.changeEmail}</Button>
        <Button variant="default" size="sm" onClick={() => setKind('phone')}>{t.changePhone}</Button>
      </Group>
      {kind && <ChangeDialog kind={kind} onClose={() => setKind(null)} />}
    </Section>
  )
}

/** ChangeDialog asks for the new address, then for both codes. */
function ChangeDialog({ kind, onClose }: { kind: 'email' | 'phone'; onClose: () => void }) {
  const t = useText(secondFactorText)
  const queries = useQueryClient()
  const [address, setAddress] = useState('')
  const [sent, setSent] = useState('')
  const [old, setOld] = useState('')
  const [next, setNext] = useState('')
  const { pending, problem, ask } = useAsking()
  const send = () => void ask(async () => {
    await client.POST('/auth/contacts', { body: { [kind]: address.trim() } })
    setSent(address.trim())
  })
  const confirm = () => void ask(async () => {
    await client.POST('/auth/contacts/confirm', { body: { oldCode: typedCode(old), newCode: typedCode(next) } })
    notifications.show({ message: t.changed, color: 'teal', autoClose: 6000 })
    void queries.invalidateQueries()
    onClose()
  })
  const code = (label: string, value: string, set: (value: string) => void) => (
    <TextInput
      label={label}
      inputMode="numeric"
      autoComplete="off"
      value={value}
      onChange={(e) => set(e.currentTarget.value)}
      required
      withAsterisk={false}
      maxLength={12}
    />
  )
  return (
    <FormDialog
      title={kind === 'email' ? t.changeEmail : t.changePhone}
      hint={sent ? t.codesSent(sent) : undefined}
      verb={sent ? t.change : t.sendCodes}
      ready={sent ? isDeviceCode(old) && isDeviceCode(next) : address.trim() !== ''}
      pending={pending}
      error={problem}
      onSubmit={sent ? confirm : send}
      onClose={onClose}
    >
      {sent
        ? <>{code(t.oldCode, old, setOld)}{code(t.newCode, next, setNext)}</>
        : (
          <TextInput
            label={kind === 'email' ? t.newEmail : t.newPhone}
            type={kind === 'email' ? 'email' : 'tel'}
            autoComplete={kind === 'email' ? 'email' : 'tel'}
            value={address}
            onChange={(e) => setAddress(e.currentTarget.value)}
            required
            withAsterisk={false}
            data-autofocus
            maxLength={254}
          />
        )}
    </FormDialog>
  )
}

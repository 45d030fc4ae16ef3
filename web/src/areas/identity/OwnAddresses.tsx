import { Button, Group, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { useText } from '../../text/catalogue'
import { secondFactorText } from '../../text/secondFactor'
import { FormDialog } from '../../ui/FormDialog'
import { Section } from '../../ui/Page'
import { useNewAddress } from './useNewAddress'

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
  const change = useNewAddress(kind, () => {
    notifications.show({ message: t.changed, color: 'teal', autoClose: 6000 })
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
      hint={change.sent ? t.codesSent(change.sent) : undefined}
      verb={change.sent ? t.change : t.sendCodes}
      ready={change.ready}
      pending={change.pending}
      error={change.problem}
      onSubmit={change.submit}
      onClose={onClose}
    >
      {change.sent
        ? <>{code(t.oldCode, change.oldCode, change.setOldCode)}{code(t.newCode, change.newCode, change.setNewCode)}</>
        : (
          <TextInput
            label={kind === 'email' ? t.newEmail : t.newPhone}
            type={kind === 'email' ? 'email' : 'tel'}
            autoComplete={kind === 'email' ? 'email' : 'tel'}
            value={change.address}
            onChange={(e) => change.setAddress(e.currentTarget.value)}
            required
            withAsterisk={false}
            data-autofocus
            maxLength={254}
          />
        )}
    </FormDialog>
  )
}

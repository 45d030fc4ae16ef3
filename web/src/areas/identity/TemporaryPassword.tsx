import { Button, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { uiText } from '../../text/ui'
import { CopyText } from '../../ui/CopyText'
import { Facts } from '../../ui/Facts'
import { useFocusBack } from '../../ui/useFocusBack'
import { readablePassword } from './readablePassword'

/** TemporaryPasswordField shows the password that the page has made, and makes another one on demand. */
export function TemporaryPasswordField({ value, onChange, error }: {
  value: string
  onChange: (value: string) => void
  error?: string
}) {
  const t = useText(identityText)
  return (
    <Stack gap={4}>
      <TextInput
        label={t.temporary}
        description={t.temporaryHint}
        value={value}
        onChange={(e) => onChange(e.currentTarget.value)}
        minLength={10}
        maxLength={128}
        error={error}
        autoComplete="off"
        spellCheck={false}
        required
        withAsterisk={false}
      />
      <Button variant="subtle" onClick={() => onChange(readablePassword())} style={{ alignSelf: 'start' }}>{t.another}</Button>
    </Stack>
  )
}

/** PassOn shows a temporary password once, with what its owner needs beside it. Only its button closes it. */
export function PassOn({ name, email, password, address, onClose }: {
  name: string
  email: string
  password: string
  /** address is where this person signs in. */
  address: string
  onClose: () => void
}) {
  const t = useText(identityText)
  const words = useText(uiText)
  useFocusBack()
  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      title={t.passOn(name)}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <Stack gap="sm">
        <Text size="sm">{t.passOnHint}</Text>
        <Facts
          of={[
            [t.where, <CopyText key="a" text={address} />],
            [t.email, <CopyText key="e" text={email} />],
            [t.temporary, <CopyText key="p" text={password} />],
          ]}
        />
        <Button onClick={onClose} style={{ alignSelf: 'end' }} data-autofocus>{t.done}</Button>
      </Stack>
    </Modal>
  )
}

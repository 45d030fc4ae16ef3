import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { CopyText } from '../../ui/CopyText'
import { Facts } from '../../ui/Facts'
import { OnceDialog } from '../../ui/OnceDialog'
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

/** PassOn shows a temporary password once, with what its owner needs beside it. */
export function PassOn({ name, email, password, address, onClose }: {
  name: string
  email: string
  password: string
  /** address is where this person signs in. */
  address: string
  onClose: () => void
}) {
  const t = useText(identityText)
  return (
    <OnceDialog title={t.passOn(name)} verb={t.done} onClose={onClose}>
      <Text size="sm">{t.passOnHint}</Text>
      <Facts
        of={[
          [t.where, <CopyText key="a" text={address} />],
          [t.email, <CopyText key="e" text={email} />],
          [t.temporary, <CopyText key="p" text={password} />],
        ]}
      />
    </OnceDialog>
  )
}

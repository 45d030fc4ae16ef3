import { Button, Stack, Text, Title } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { signInText } from '../../text/signin'
import { Form } from '../../ui/Form'
import { ProblemNote } from '../../ui/ProblemNote'
import { PasswordField } from './PasswordField'
import { useNewPassword } from './useNewPassword'

/** NewPassword has a temporary password replaced by one that only its owner knows. */
export function NewPassword({ onDone }: { onDone: () => void }) {
  const t = useText(signInText)
  const form = useNewPassword(onDone)
  return (
    <Form busy={form.pending} onSubmit={form.submit}>
      <Stack gap="sm">
        <Title order={2} size="h5">{t.newPassword}</Title>
        <Text size="sm">{t.newPasswordHint}</Text>
        <NewPasswordFields form={form} />
        <Button type="submit" size="sm" loading={form.pending}>{t.save}</Button>
      </Stack>
    </Form>
  )
}

/** NewPasswordFields are the three fields of a change of password, and why it was refused. */
export function NewPasswordFields({ form }: { form: ReturnType<typeof useNewPassword> }) {
  const t = useText(signInText)
  return (
    <>
      <PasswordField
        label={t.currentPassword}
        autoComplete="current-password"
        value={form.current}
        onChange={form.setCurrent}
      />
      <PasswordField
        label={t.nextPassword}
        autoComplete="new-password"
        value={form.next}
        onChange={form.setNext}
        error={form.short ? t.tooShort : form.asBefore && t.asBefore}
      />
      <PasswordField
        label={t.again}
        autoComplete="new-password"
        value={form.again}
        onChange={form.setAgain}
        error={form.differ && t.differ}
      />
      {form.problem !== null && <ProblemNote of={form.problem} />}
    </>
  )
}

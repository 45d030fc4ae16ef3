import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { ProblemNote } from '../../ui/ProblemNote'

/**
 * SignIn asks for e-mail address and password. Codes, the choice of an organization and a second factor are further
 * steps of this form: each takes the answer of the step before.
 */
export function SignIn({ email = '', hint, onDone }: {
  /** email is known when a session has ended; nobody else may go on in its place. */
  email?: string
  hint?: string
  onDone: (mustChangePassword: boolean) => void
}) {
  const t = useText(identityText)
  const [address, setAddress] = useState(email)
  const [password, setPassword] = useState('')
  const [pending, setPending] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const signIn = async () => {
    setPending(true)
    setProblem(null)
    try {
      const { data } = await client.POST('/auth/login', { body: { email: address.trim(), password } })
      onDone(data!.mustChangePassword)
    } catch (cause) {
      setProblem(cause)
      setPassword('')
    } finally {
      setPending(false)
    }
  }
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        if (!pending) void signIn()
      }}
    >
      <Stack gap="sm">
        {hint && <Text size="sm">{hint}</Text>}
        <TextInput
          label={t.email}
          type="email"
          autoComplete="username"
          value={address}
          onChange={(e) => setAddress(e.currentTarget.value)}
          readOnly={email !== ''}
          required
          withAsterisk={false}
          autoFocus={email === ''}
        />
        <PasswordInput
          label={t.password}
          autoComplete="current-password"
          value={password}
          onChange={(e) => setPassword(e.currentTarget.value)}
          required
          withAsterisk={false}
          autoFocus={email !== ''}
        />
        {problem !== null && <ProblemNote of={problem} />}
        <Button type="submit" size="sm" loading={pending}>{t.signIn}</Button>
        <Text size="xs" c="dimmed">{t.forgot}</Text>
      </Stack>
    </form>
  )
}

import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { client } from '../../api/client'
import { asProblem } from '../../api/problem'
import { cookiesAreNew } from '../../api/session'
import { useText } from '../../text/catalogue'
import { signInText } from '../../text/signin'
import { Form } from '../../ui/Form'
import { later } from '../../ui/later'
import { ProblemNote } from '../../ui/ProblemNote'
import { useSecondsLeft } from '../../ui/useSecondsLeft'
import { PasswordField } from './PasswordField'
import { chosenMark } from './chosen'

const SecondStep = later(async () => (await import('./SecondStep')).default)
const SignInByCode = later(async () => (await import('./SignInByCode')).default)

/** SignIn asks for e-mail address and password, or lets a person sign in by a code. */
export function SignIn({ email = '', hint, onDone }: {
  /** email is known when a session has ended; nobody else may go on in its place. */
  email?: string
  hint?: string
  onDone: (mustChangePassword: boolean) => void
}) {
  const t = useText(signInText)
  const [byCode, setByCode] = useState(() => location.hash.startsWith(chosenMark))
  const [changed, setChanged] = useState(false)
  const [token, setToken] = useState('')
  const [address, setAddress] = useState(email)
  const [password, setPassword] = useState('')
  const [pending, setPending] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const wait = useSecondsLeft(problem)
  const signIn = async () => {
    setPending(true)
    setProblem(null)
    try {
      const { data } = await client.POST('/auth/login', { body: { email: address.trim(), password } })
      if (data!.requiresSecondFactor) {
        setToken(data!.verifiedToken!)
        return
      }
      cookiesAreNew()
      onDone(data!.mustChangePassword)
    } catch (cause) {
      setProblem(cause)
      // A refused password is typed anew; one that never arrived is tried again.
      if (asProblem(cause).status === 401) setPassword('')
    } finally {
      setPending(false)
    }
  }
  if (token) {
    const back = () => {
      setPassword('')
      setToken('')
    }
    return <SecondStep token={token} onDone={onDone} onBack={back} />
  }
  if (byCode) {
    return (
      <SignInByCode
        email={email}
        onDone={onDone}
        onBack={(isNew) => {
          setChanged(isNew)
          setByCode(false)
        }}
      />
    )
  }
  const locked = problem !== null && asProblem(problem).code === 'account_locked'
  return (
    <Form
      busy={pending}
      onSubmit={() => {
        if (wait === 0) void signIn()
      }}
    >
      <Stack gap="sm">
        {hint && <Text size="sm">{hint}</Text>}
        {changed && <Text size="sm" role="status">{t.passwordChanged}</Text>}
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
          maxLength={254}
        />
        <PasswordField
          label={t.password}
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          autoFocus={email !== ''}
        />
        {problem !== null && <ProblemNote of={problem} />}
        {locked && <Text size="sm">{t.locked}</Text>}
        <Button type="submit" size="sm" loading={pending} disabled={wait > 0}>
          {wait > 0 ? t.signInAgain(wait) : t.signIn}
        </Button>
        <Button variant="subtle" size="compact-sm" onClick={() => setByCode(true)}>{t.byCode}</Button>
      </Stack>
    </Form>
  )
}

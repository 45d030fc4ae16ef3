import { Button, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { ProblemNote } from '../../ui/ProblemNote'

/** shortest is the least length of a password. Source: docs/rules/identity.md. */
const shortest = 10

/** NewPassword has a temporary password replaced by one that only its owner knows. */
export function NewPassword({ onDone }: { onDone: () => void }) {
  const t = useText(identityText)
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [again, setAgain] = useState('')
  const [pending, setPending] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const short = next !== '' && [...next].length < shortest
  const differ = again !== '' && again !== next
  const save = async () => {
    setPending(true)
    setProblem(null)
    try {
      await client.POST('/auth/password', { body: { currentPassword: current, newPassword: next } })
      onDone()
    } catch (cause) {
      setProblem(cause)
    } finally {
      setPending(false)
    }
  }
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        if (!pending && !short && next === again) void save()
      }}
    >
      <Stack gap="sm">
        <Title order={2} size="h5">{t.newPassword}</Title>
        <Text size="sm">{t.newPasswordHint}</Text>
        <PasswordInput
          label={t.currentPassword}
          autoComplete="current-password"
          value={current}
          onChange={(e) => setCurrent(e.currentTarget.value)}
          required
          withAsterisk={false}
        />
        <PasswordInput
          label={t.nextPassword}
          autoComplete="new-password"
          value={next}
          onChange={(e) => setNext(e.currentTarget.value)}
          error={short && t.tooShort}
          required
          withAsterisk={false}
        />
        <PasswordInput
          label={t.again}
          autoComplete="new-password"
          value={again}
          onChange={(e) => setAgain(e.currentTarget.value)}
          error={differ && t.differ}
          required
          withAsterisk={false}
        />
        {problem !== null && <ProblemNote of={problem} />}
        <Button type="submit" size="sm" loading={pending}>{t.save}</Button>
      </Stack>
    </form>
  )
}

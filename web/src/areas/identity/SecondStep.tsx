import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { client } from '../../api/client'
import { asProblem } from '../../api/problem'
import { cookiesAreNew } from '../../api/session'
import { useText } from '../../text/catalogue'
import { secondFactorText } from '../../text/secondFactor'
import { Form } from '../../ui/Form'
import { ProblemNote } from '../../ui/ProblemNote'
import { isDeviceCode, isFactorCode } from './factorCode'
import { useAsking } from './useAsking'

/** SecondStep asks for the second factor of a sign-in whose first step was right. */
export default function SecondStep({ token, onDone, onBack }: {
  /** token stands for the first step. */
  token: string
  onDone: (mustChangePassword: boolean) => void
  /** onBack begins the sign-in again. */
  onBack: () => void
}) {
  const t = useText(secondFactorText)
  const [code, setCode] = useState('')
  const [recovery, setRecovery] = useState(false)
  const { pending, problem, ask, wait } = useAsking()
  const over = problem !== null && asProblem(problem).code === 'sign_in_expired'
  // A recovery code works while codes of the device are limited.
  const waits = recovery ? 0 : wait
  const submit = () => {
    if (waits > 0 || over || !(recovery ? isFactorCode(code) : isDeviceCode(code))) return
    void ask(async () => {
      try {
        const { data } = await client.POST('/auth/second-factor', { body: { verifiedToken: token, code: code.replace(/\s/g, '') } })
        cookiesAreNew()
        onDone(data!.mustChangePassword)
      } catch (cause) {
        setCode('')
        throw cause
      }
    })
  }
  return (
    <Form busy={pending} onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm" role="status">{recovery ? t.askRecovery : t.ask}</Text>
        <TextInput
          key={String(recovery)}
          label={recovery ? t.recoveryCode : t.code}
          autoComplete={recovery ? 'off' : 'one-time-code'}
          inputMode={recovery ? 'text' : 'numeric'}
          spellCheck={false}
          value={code}
          onChange={(e) => setCode(e.currentTarget.value)}
          required
          withAsterisk={false}
          autoFocus
          maxLength={16}
        />
        {problem !== null && <ProblemNote of={problem} />}
        {!over && (
          <Button type="submit" size="sm" loading={pending} disabled={waits > 0}>
            {waits > 0 ? t.enterAgain(waits) : t.enter}
          </Button>
        )}
        {!over && (
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => {
              setCode('')
              setRecovery(!recovery)
            }}
          >
            {recovery ? t.useDevice : t.useRecovery}
          </Button>
        )}
        <Button variant={over ? 'filled' : 'subtle'} size={over ? 'sm' : 'compact-sm'} onClick={onBack}>{t.beginAgain}</Button>
      </Stack>
    </Form>
  )
}

import { Button, List, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMemo, useState } from 'react'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { secondFactorText } from '../../text/secondFactor'
import { signInText } from '../../text/signin'
import { CopyText } from '../../ui/CopyText'
import { Form } from '../../ui/Form'
import { ProblemNote } from '../../ui/ProblemNote'
import { isDeviceCode, typedCode } from './factorCode'
import { PasswordField } from './PasswordField'
import { drawQR } from './qr'
import { useAsking } from './useAsking'

/** Shown is a secret that the server shows once. */
interface Shown {
  secret: string
  otpauthUri: string
}

/**
 * EnrolFactor sets a second factor up: the password, the secret with a first code of it, and the recovery codes. All of it
 * stays out of every cache.
 */
export function EnrolFactor({ onCodes, onDone }: {
  /** onCodes tells that the recovery codes are shown, which nobody can read a second time. */
  onCodes?: () => void
  onDone: () => void
}) {
  const [shown, setShown] = useState<Shown>()
  const [codes, setCodes] = useState<string[]>()
  const show = (made: string[]) => {
    setCodes(made)
    onCodes?.()
  }
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />
  if (shown) return <FirstCode of={shown} onCodes={show} />
  return <Prove onShown={setShown} />
}

/** Prove asks for the password, for which the server makes the secret. */
function Prove({ onShown }: { onShown: (shown: Shown) => void }) {
  const t = useText(secondFactorText)
  const words = useText(signInText)
  const [password, setPassword] = useState('')
  const { pending, problem, ask } = useAsking()
  const submit = () => void ask(async () => {
    const { data } = await client.POST('/auth/second-factor/enrol', { body: { currentPassword: password } })
    if (data && 'secret' in data) onShown(data)
  })
  return (
    <Form busy={pending} onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{t.passwordHint}</Text>
        <PasswordField label={words.currentPassword} autoComplete="current-password" value={password} onChange={setPassword} autoFocus />
        {problem !== null && <ProblemNote of={problem} />}
        <Button type="submit" size="sm" loading={pending}>{t.next}</Button>
      </Stack>
    </Form>
  )
}

/** FirstCode shows the secret, and takes the first code that the device makes of it. */
function FirstCode({ of, onCodes }: { of: Shown; onCodes: (codes: string[]) => void }) {
  const t = useText(secondFactorText)
  const [code, setCode] = useState('')
  const { pending, problem, ask } = useAsking()
  const drawn = useMemo(() => drawQR(of.otpauthUri), [of.otpauthUri])
  const submit = () => {
    if (!isDeviceCode(code)) return
    void ask(async () => {
      const { data } = await client.POST('/auth/second-factor/confirm', { body: { code: typedCode(code) } })
      if (data && 'recoveryCodes' in data) onCodes(data.recoveryCodes)
    })
  }
  return (
    <Form busy={pending} onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{t.scan}</Text>
        <svg
          role="img"
          aria-label={t.picture}
          viewBox={`0 0 ${drawn.size} ${drawn.size}`}
          shapeRendering="crispEdges"
          style={{ width: 220, maxWidth: '100%', alignSelf: 'center', background: '#fff' }}
        >
          <path d={drawn.path} fill="#000" />
        </svg>
        <Text size="sm">{t.secret}: <CopyText text={of.secret}>{of.secret.replace(/(.{4})(?=.)/g, '$1 ')}</CopyText></Text>
        <TextInput
          label={t.firstCode}
          autoComplete="one-time-code"
          inputMode="numeric"
          value={code}
          onChange={(e) => setCode(e.currentTarget.value)}
          required
          withAsterisk={false}
          autoFocus
          maxLength={12}
        />
        {problem !== null && <ProblemNote of={problem} />}
        <Button type="submit" size="sm" loading={pending}>{t.confirm}</Button>
      </Stack>
    </Form>
  )
}

/** RecoveryCodes are shown once, and go away by the button alone. */
function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const t = useText(secondFactorText)
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">{t.recoveryTitle}</Title>
      <Text size="sm">{t.recoveryHint}</Text>
      <List size="sm" listStyleType="none" className="figure">
        {codes.map((code) => <List.Item key={code}>{code}</List.Item>)}
      </List>
      <CopyText text={codes.join('\n')}>{t.copyAll}</CopyText>
      <Button size="sm" onClick={onDone} data-autofocus autoFocus>{t.kept}</Button>
    </Stack>
  )
}

import { Button, Checkbox, Stack, Text, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { codesText } from '../../text/codes'
import { signInText } from '../../text/signin'
import { Form } from '../../ui/Form'
import { ProblemNote } from '../../ui/ProblemNote'
import { PasswordField } from './PasswordField'
import SecondStep from './SecondStep'
import { placeAddress } from './chosen'
import { typedCode } from './factorCode'
import { useByCode } from './useByCode'

/**
 * SignInByCode has a code sent to an address. With it a person signs in, or chooses a new password; at the platform's
 * own address the person chooses an organization first.
 */
export default function SignInByCode({ email, onDone, onBack }: {
  /** email is known when a session has ended; nobody else may go on in its place. */
  email: string
  onDone: (mustChangePassword: boolean) => void
  /** onBack goes to the form of the password; changed says that there is a new one. */
  onBack: (changed: boolean) => void
}) {
  const t = useText(codesText)
  const by = useByCode({ email, onDone, onChanged: () => onBack(true) })
  const back = <Button variant="subtle" size="compact-sm" onClick={() => onBack(false)}>{t.withPassword}</Button>
  switch (by.step.at) {
    case 'factor':
      return <SecondStep token={by.step.token} onDone={onDone} onBack={() => onBack(false)} />
    case 'entering':
      return (
        <Stack gap="sm">
          {by.problem === null ? <Text size="sm" role="status">{t.entering}</Text> : <ProblemNote of={by.problem} />}
          {by.problem !== null && back}
        </Stack>
      )
    case 'places':
      return <Choice token={by.step.token} list={by.step.list} />
    case 'code':
      return <Proof by={by} other={email === ''} />
    case 'address':
      return (
        <Form busy={by.pending} onSubmit={by.send}>
          <Stack gap="sm">
            <TextInput
              label={t.address}
              description={t.addressHint}
              autoComplete="username"
              value={by.address}
              onChange={(e) => by.setAddress(e.currentTarget.value)}
              readOnly={email !== ''}
              required
              withAsterisk={false}
              autoFocus
              maxLength={254}
            />
            {by.problem !== null && <ProblemNote of={by.problem} />}
            <Button type="submit" size="sm" loading={by.pending} disabled={by.wait > 0}>
              {by.wait > 0 ? t.sendAgain(by.wait) : t.send}
            </Button>
            {back}
          </Stack>
        </Form>
      )
  }
}

/** Proof takes the code, and a new password with it when the person wants one. */
function Proof({ by, other }: { by: ReturnType<typeof useByCode>; other: boolean }) {
  const t = useText(codesText)
  const words = useText(signInText)
  const [code, setCode] = useState('')
  const [alsoPassword, setAlsoPassword] = useState(false)
  const [password, setPassword] = useState('')
  const address = by.address.trim()
  const wrongForm = !/^\d{0,6}$/.test(typedCode(code))
  const phone = !address.includes('@')
  return (
    <Form busy={by.pending} onSubmit={() => by.prove(code, alsoPassword ? password : null)}>
      <Stack gap="sm">
        <Text size="sm" role="status">{t.sent(address)}</Text>
        <TextInput
          label={t.code}
          autoComplete="one-time-code"
          inputMode="numeric"
          value={code}
          onChange={(e) => setCode(e.currentTarget.value)}
          error={wrongForm && t.codeForm}
          required
          withAsterisk={false}
          autoFocus
          maxLength={12}
        />
        <Checkbox
          label={t.alsoPassword}
          description={phone && t.emailOnly}
          disabled={phone}
          checked={alsoPassword}
          onChange={(e) => setAlsoPassword(e.currentTarget.checked)}
        />
        {alsoPassword && (
          <PasswordField label={words.nextPassword} autoComplete="new-password" value={password} onChange={setPassword} />
        )}
        {by.problem !== null && <ProblemNote of={by.problem} />}
        <Button type="submit" size="sm" loading={by.pending} disabled={by.wait > 0}>{alsoPassword ? t.change : t.enter}</Button>
        {other && <Button variant="subtle" size="compact-sm" onClick={by.other}>{t.other}</Button>}
      </Stack>
    </Form>
  )
}

/** Choice leads to the address of each organization that the person may enter. */
function Choice({ token, list }: { token: string; list: Shape<'MembershipResponse'>[] }) {
  const t = useText(codesText)
  if (list.length === 0) return <Text size="sm">{t.nowhere}</Text>
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">{t.choose}</Title>
      {list.map((place) => (
        <Button key={place.id} component="a" variant="default" href={placeAddress(place, token, location)}>
          {place.name}
        </Button>
      ))}
    </Stack>
  )
}

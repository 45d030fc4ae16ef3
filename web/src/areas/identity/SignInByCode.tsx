import { Button, Checkbox, Stack, Text, TextInput, Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { client } from '../../api/client'
import { cookiesAreNew } from '../../api/session'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { codesText } from '../../text/codes'
import { signInText } from '../../text/signin'
import { Form } from '../../ui/Form'
import { ProblemNote } from '../../ui/ProblemNote'
import { PasswordField } from './PasswordField'
import SecondStep from './SecondStep'
import { chosenMark } from './chosen'
import { useAsking } from './useAsking'

type Place = Shape<'MembershipResponse'>

/**
 * SignInByCode has a code sent to an address. With it a person signs in, or chooses a new password; at the platform's
 * own address the person chooses an organization first, whose address takes the choice behind the # of its page.
 */
export default function SignInByCode({ email, onDone, onBack }: {
  /** email is known when a session has ended; nobody else may go on in its place. */
  email: string
  onDone: (mustChangePassword: boolean) => void
  /** onBack goes to the form of the password; changed says that there is a new one. */
  onBack: (changed: boolean) => void
}) {
  const t = useText(codesText)
  const [address, setAddress] = useState(email)
  const [sent, setSent] = useState(false)
  const [places, setPlaces] = useState<{ token: string; list: Place[] }>()
  const [token, setToken] = useState('')
  const asking = useAsking()
  const chosen = useChosen(onDone, setToken, asking.ask)
  const send = () => asking.ask(async () => {
    await client.POST('/auth/otp/send', { body: { identifier: address.trim() } })
    setSent(true)
  })
  const back = <Button variant="subtle" size="compact-sm" onClick={() => onBack(false)}>{t.withPassword}</Button>
  if (token) return <SecondStep token={token} onDone={onDone} onBack={() => onBack(false)} />
  if (chosen) {
    return (
      <Stack gap="sm">
        {asking.problem === null ? <Text size="sm" role="status">{t.entering}</Text> : <ProblemNote of={asking.problem} />}
        {asking.problem !== null && back}
      </Stack>
    )
  }
  if (places) return <Choice of={places} />
  if (sent) {
    return (
      <Proof
        address={address.trim()}
        onDone={onDone}
        onPlaces={(proven, list) => setPlaces({ token: proven, list })}
        onFactor={setToken}
        onChanged={() => onBack(true)}
        onOther={email ? undefined : () => setSent(false)}
      />
    )
  }
  return (
    <Form busy={asking.pending} onSubmit={() => { if (asking.wait === 0) void send() }}>
      <Stack gap="sm">
        <TextInput
          label={t.address}
          description={t.addressHint}
          autoComplete="username"
          value={address}
          onChange={(e) => setAddress(e.currentTarget.value)}
          readOnly={email !== ''}
          required
          withAsterisk={false}
          autoFocus
          maxLength={254}
        />
        {asking.problem !== null && <ProblemNote of={asking.problem} />}
        <Button type="submit" size="sm" loading={asking.pending} disabled={asking.wait > 0}>
          {asking.wait > 0 ? t.sendAgain(asking.wait) : t.send}
        </Button>
        {back}
      </Stack>
    </Form>
  )
}

/** useChosen enters the organization that was chosen at the platform's own address, once. */
function useChosen(
  onDone: (mustChangePassword: boolean) => void,
  onFactor: (token: string) => void,
  ask: (call: () => Promise<void>) => Promise<void>,
): boolean {
  const [choice] = useState(() => (location.hash.startsWith(chosenMark) ? location.hash.slice(chosenMark.length) : ''))
  const begun = useRef(false)
  useEffect(() => {
    if (choice === '' || begun.current) return
    begun.current = true
    history.replaceState(history.state, '', location.pathname + location.search)
    const [orgId = '', verifiedToken = ''] = choice.split('/')
    void ask(async () => {
      const { data } = await client.POST('/auth/otp/complete', { body: { verifiedToken, orgId } })
      if (data!.requiresSecondFactor) {
        onFactor(data!.verifiedToken!)
        return
      }
      cookiesAreNew()
      onDone(data!.mustChangePassword)
    })
  })
  return choice !== ''
}

/** Proof takes the code, and a new password with it when the person wants one. */
function Proof({ address, onDone, onPlaces, onFactor, onChanged, onOther }: {
  address: string
  onDone: (mustChangePassword: boolean) => void
  onFactor: (token: string) => void
  onPlaces: (token: string, list: Place[]) => void
  onChanged: () => void
  onOther?: () => void
}) {
  const t = useText(codesText)
  const words = useText(signInText)
  const [code, setCode] = useState('')
  const [alsoPassword, setAlsoPassword] = useState(false)
  const [password, setPassword] = useState('')
  const { pending, problem, ask, wait } = useAsking()
  const digits = code.replace(/\s/g, '')
  const wrongForm = digits !== '' && !/^\d{0,6}$/.test(digits)
  const phone = !address.includes('@')
  const submit = () => {
    if (wait > 0 || !/^\d{6}$/.test(digits)) return
    const proof = { identifier: address, code: digits }
    void ask(async () => {
      if (alsoPassword) {
        await client.POST('/auth/password/reset', { body: { ...proof, newPassword: password } })
        onChanged()
        return
      }
      const { data } = await client.POST('/auth/otp/verify', { body: proof })
      if (data!.requiresOrgSelection) {
        onPlaces(data!.verifiedToken!, data!.organizations ?? [])
        return
      }
      if (data!.requiresSecondFactor) {
        onFactor(data!.verifiedToken!)
        return
      }
      cookiesAreNew()
      onDone(data!.mustChangePassword)
    })
  }
  return (
    <Form busy={pending} onSubmit={submit}>
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
        {problem !== null && <ProblemNote of={problem} />}
        <Button type="submit" size="sm" loading={pending} disabled={wait > 0}>{alsoPassword ? t.change : t.enter}</Button>
        {onOther && <Button variant="subtle" size="compact-sm" onClick={onOther}>{t.other}</Button>}
      </Stack>
    </Form>
  )
}

/** Choice leads to the address of each organization that the person may enter. */
function Choice({ of }: { of: { token: string; list: Place[] } }) {
  const t = useText(codesText)
  if (of.list.length === 0) return <Text size="sm">{t.nowhere}</Text>
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">{t.choose}</Title>
      {of.list.map((place) => (
        <Button
          key={place.id}
          component="a"
          variant="default"
          href={`${location.protocol}//${place.slug}.${location.host}/app/${chosenMark}${place.id}/${of.token}`}
        >
          {place.name}
        </Button>
      ))}
    </Stack>
  )
}

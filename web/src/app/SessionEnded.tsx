import { Anchor, Button, Modal, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { type Lost, whenCookiesAreNew } from '../api/session'
import type { Shape } from '../api/types'
import { NewPassword } from '../areas/identity/NewPassword'
import { SignIn } from '../areas/identity/SignIn'
import { useText } from '../text/catalogue'
import { signInText } from '../text/signin'
import { useFocusBack } from '../ui/useFocusBack'
import { forgetRecent } from './recent'
import { rootOf } from './rootOf'

/** SessionEnded asks for the password above the page, whose requests wait until it is given. */
export default function SessionEnded({ me, step, onStep, onDone }: {
  me: Shape<'MeResponse'>
  step: Lost | 'newPassword'
  onStep: (step: 'newPassword') => void
  onDone: () => void
}) {
  const t = useText(signInText)
  useFocusBack()
  const another = step === 'another'
  const root = rootOf(me, location)
  useEffect(() => (step === 'ended' || step === 'displaced' ? whenCookiesAreNew(onDone) : undefined), [step, onDone])
  // Nothing of this person stays for the next one.
  const leave = () => {
    forgetRecent(me.id ?? '')
    location.assign('/app/')
  }
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={another ? t.anotherPerson : t.sessionEnded}
    >
      {step === 'newPassword' ? <NewPassword onDone={onDone} /> : (
        <>
          {root ? <AtRoot root={root} onDone={onDone} /> : <SignIn
            email={me.email ?? ''}
            hint={step === 'displaced' ? t.displacedHint : another ? t.anotherPersonHint : t.sessionEndedHint}
            onDone={(must) => (must ? onStep('newPassword') : onDone())}
          />}
          <Button variant="subtle" mt="sm" onClick={leave}>{another ? t.goOnAsAnother : t.otherPerson}</Button>
          <Text size="xs" c="dimmed">{t.otherPersonHint}</Text>
        </>
      )}
    </Modal>
  )
}

/** AtRoot leads an operator of the platform, whom no organization's address signs in, to the platform's. */
function AtRoot({ root, onDone }: { root: string; onDone: () => void }) {
  const t = useText(signInText)
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">{t.atRootHint}</Text>
      <Anchor href={root} target="_blank" size="sm">{root}</Anchor>
      <Button onClick={onDone} data-autofocus>{t.goOn}</Button>
    </Stack>
  )
}

import { Button, Modal, Text } from '@mantine/core'
import { useEffect } from 'react'
import { type Lost, whenCookiesAreNew } from '../api/session'
import type { Shape } from '../api/types'
import { NewPassword } from '../areas/identity/NewPassword'
import { SignIn } from '../areas/identity/SignIn'
import { useText } from '../text/catalogue'
import { signInText } from '../text/signin'
import { forgetRecent } from './recent'

/** SessionEnded asks for the password above the page, whose requests wait until it is given. */
export default function SessionEnded({ me, step, onStep, onDone }: {
  me: Shape<'MeResponse'>
  step: Lost | 'newPassword'
  onStep: (step: 'newPassword') => void
  onDone: () => void
}) {
  const t = useText(signInText)
  const another = step === 'another'
  useEffect(() => (step === 'ended' ? whenCookiesAreNew(onDone) : undefined), [step, onDone])
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
          <SignIn
            email={me.email ?? ''}
            hint={another ? t.anotherPersonHint : t.sessionEndedHint}
            onDone={(must) => (must ? onStep('newPassword') : onDone())}
          />
          <Button variant="subtle" mt="sm" onClick={leave}>{another ? t.goOnAsAnother : t.otherPerson}</Button>
          <Text size="xs" c="dimmed">{t.otherPersonHint}</Text>
        </>
      )}
    </Modal>
  )
}

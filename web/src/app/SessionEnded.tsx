import { Button, Modal, Text } from '@mantine/core'
import { NewPassword } from '../areas/identity/NewPassword'
import { SignIn } from '../areas/identity/SignIn'
import { useText } from '../text/catalogue'
import { signInText } from '../text/signin'

/** SessionEnded asks for the password above the page, whose requests wait until it is given. */
export default function SessionEnded({ email, step, onStep, onDone }: {
  email: string
  step: 'password' | 'newPassword'
  onStep: (step: 'newPassword') => void
  onDone: () => void
}) {
  const t = useText(signInText)
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={t.sessionEnded}
    >
      {step === 'newPassword' ? <NewPassword onDone={onDone} /> : (
        <>
          <SignIn email={email} hint={t.sessionEndedHint} onDone={(must) => (must ? onStep('newPassword') : onDone())} />
          <Button variant="subtle" mt="sm" onClick={() => location.assign('/app/')}>{t.otherPerson}</Button>
          <Text size="xs" c="dimmed">{t.otherPersonHint}</Text>
        </>
      )}
    </Modal>
  )
}

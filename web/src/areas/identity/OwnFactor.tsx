import { Button, Group, Modal, Text, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { secondFactorText } from '../../text/secondFactor'
import { signInText } from '../../text/signin'
import { uiText } from '../../text/ui'
import { FormDialog } from '../../ui/FormDialog'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { State } from '../../ui/State'
import { useFocusBack } from '../../ui/useFocusBack'
import { EnrolFactor } from './EnrolFactor'
import { isFactorCode } from './factorCode'
import { PasswordField } from './PasswordField'
import { useAsking } from './useAsking'

/** fewCodes: so many recovery codes are soon used up. */
const fewCodes = 2

/** OwnFactor shows whether a second factor guards the own account, sets one up and removes it. */
export function OwnFactor() {
  const t = useText(secondFactorText)
  const queries = useQueryClient()
  const [step, setStep] = useState<'enrol' | 'remove' | null>(null)
  const read = useQuery({
    queryKey: ['get', '/auth/second-factor', {}],
    queryFn: async ({ signal }) => (await client.GET('/auth/second-factor', { signal })).data!,
  })
  const close = () => {
    setStep(null)
    void queries.invalidateQueries()
  }
  return (
    <Section title={t.title}>
      <Loaded read={read} height={64}>
        {(has) => (
          <>
            <Text size="sm">
              <State tone={has.enrolled ? 'good' : 'attention'}>{has.enrolled ? t.has : t.hasNot}</State>{' '}
              {has.enrolled ? `${t.on} ${t.left(has.recoveryCodesLeft)}` : t.none}
              {has.enrolled && has.recoveryCodesLeft <= fewCodes && ` ${t.few}`}
            </Text>
            <Group>
              <Button variant="default" size="sm" onClick={() => setStep(has.enrolled ? 'remove' : 'enrol')}>
                {has.enrolled ? t.remove : t.setUp}
              </Button>
            </Group>
          </>
        )}
      </Loaded>
      {step === 'enrol' && <EnrolDialog onClose={close} />}
      {step === 'remove' && <RemoveDialog onClose={close} />}
    </Section>
  )
}

/** EnrolDialog is closed by its button alone once it shows the recovery codes. */
function EnrolDialog({ onClose }: { onClose: () => void }) {
  const t = useText(secondFactorText)
  const words = useText(uiText)
  const [once, setOnce] = useState(false)
  useFocusBack()
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={!once}
      closeOnEscape={!once}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': words.close }}
      title={t.setUpTitle}
    >
      <EnrolFactor onCodes={() => setOnce(true)} onDone={onClose} />
    </Modal>
  )
}

/** RemoveDialog takes the password and a code. */
function RemoveDialog({ onClose }: { onClose: () => void }) {
  const t = useText(secondFactorText)
  const words = useText(signInText)
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const { pending, problem, ask } = useAsking()
  const submit = () => void ask(async () => {
    await client.POST('/auth/second-factor/remove', { body: { currentPassword: password, code: code.replace(/\s/g, '') } })
    notifications.show({ message: t.removed, color: 'teal', autoClose: 6000 })
    onClose()
  })
  return (
    <FormDialog
      title={t.removeTitle}
      hint={t.removeHint}
      verb={t.remove}
      ready={password !== '' && isFactorCode(code)}
      pending={pending}
      error={problem}
      onSubmit={submit}
      onClose={onClose}
    >
      <PasswordField label={words.currentPassword} autoComplete="current-password" value={password} onChange={setPassword} autoFocus />
      <TextInput
        label={t.code}
        autoComplete="one-time-code"
        value={code}
        onChange={(e) => setCode(e.currentTarget.value)}
        required
        withAsterisk={false}
        maxLength={16}
      />
    </FormDialog>
  )
}

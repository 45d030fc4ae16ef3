import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay, usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { FormDialog } from '../../ui/FormDialog'
import { readablePassword } from './readablePassword'
import { PassOn, TemporaryPasswordField } from './TemporaryPassword'
import { fullName } from './words'

/** GivePassword replaces a password that somebody has lost, and shows the new one once. */
export function GivePassword({ member }: { member: Shape<'MemberResponse'> }) {
  const t = useText(identityText)
  const may = useMay()
  const { me } = usePerson()
  const [password, setPassword] = useState('')
  const [step, setStep] = useState<'give' | 'passOn' | null>(null)
  const name = fullName(member)
  const give = useWrite('post', '/users/{id}/password', { told: () => t.gavePassword(name), then: () => setStep('passOn') })
  if (member.id === me.id || member.status === 'disabled' || !may('POST /users/{id}/password')) return null
  const begin = () => {
    give.reset()
    setPassword(readablePassword())
    setStep('give')
  }
  return (
    <>
      <Button variant="default" onClick={begin}>{t.givePassword}</Button>
      {step === 'give' && (
        <FormDialog
          title={t.givePasswordTitle(name)}
          hint={t.givePasswordHint}
          verb={t.givePassword}
          ready={password !== ''}
          pending={give.isPending}
          error={give.error}
          onSubmit={() => give.mutate({ params: { path: { id: member.id } }, body: { temporaryPassword: password } })}
          onClose={() => setStep(null)}
        >
          <TemporaryPasswordField value={password} onChange={setPassword} error={give.error?.of('temporaryPassword')} />
        </FormDialog>
      )}
      {step === 'passOn' && (
        <PassOn
          name={name}
          email={member.email ?? ''}
          password={password}
          address={`${location.origin}/app/`}
          onClose={() => setStep(null)}
        />
      )}
    </>
  )
}

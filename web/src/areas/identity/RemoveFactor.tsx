import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay, usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { secondFactorText } from '../../text/secondFactor'
import { Confirm } from '../../ui/Confirm'
import { fullName } from './words'

/** RemoveFactor takes off the second factor of somebody who has lost the phone. */
export function RemoveFactor({ member }: { member: Shape<'MemberResponse'> }) {
  const t = useText(secondFactorText)
  const may = useMay()
  const { me } = usePerson()
  const [asking, setAsking] = useState(false)
  const name = fullName(member)
  const close = () => setAsking(false)
  const remove = useWrite('post', '/users/{id}/second-factor/remove', { told: () => t.lostDone(name), then: close })
  if (!member.secondFactor || member.id === me.id || !may('POST /users/{id}/second-factor/remove')) return null
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>{t.lost}</Button>
      {asking && (
        <Confirm
          title={t.lostTitle(name)}
          verb={t.lost}
          danger
          reason
          pending={remove.isPending}
          error={remove.error}
          onConfirm={(reason) => remove.mutate({ params: { path: { id: member.id } }, body: { reason } })}
          onClose={close}
        >
          {t.lostHint}
        </Confirm>
      )}
    </>
  )
}

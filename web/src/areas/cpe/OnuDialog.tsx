import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { onuText } from '../../text/onu'
import { FormDialog } from '../../ui/FormDialog'
import { noOnu, onuOf } from './onu'
import { OnuFields } from './OnuFields'

/** OnuDialog sets up the ONU of a device, or does so once more: as it was asked for last, unless something is corrected. */
export function OnuDialog({ id, last, onClose }: { id: string; last: Shape<'CpeOnu'> | null; onClose: () => void }) {
  const t = useText(onuText)
  const words = useText(devicesText)
  const [typed, setTyped] = useState(last ?? noOnu)
  const write = useWrite('post', '/cpe/devices/{id}/onu', { told: () => words.asked, then: onClose })
  const onu = onuOf(typed)
  return (
    <FormDialog
      title={t.setUp}
      hint={last?.registered && onu !== null && onu.serial !== last.serial ? `${t.setUpHint} ${t.otherSerial}` : t.setUpHint}
      verb={t.setUp}
      ready={onu !== null}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => onu && write.mutate({ params: { path: { id } }, body: onu })}
      onClose={onClose}
    >
      <OnuFields of={typed} error={write.error} onChange={setTyped} />
    </FormDialog>
  )
}

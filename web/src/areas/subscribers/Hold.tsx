import { Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { uiText } from '../../text/ui'
import { FormDialog } from '../../ui/FormDialog'
import { endOfDay } from './dayState'

const day = 86_400_000

/** Hold stops the clock of what is owed until the end of a day: the customer has promised to pay. */
export function Hold({ id, plan, onClose }: { id: string; plan: string; onClose: () => void }) {
  const t = useText(customerText)
  const words = useText(uiText)
  const f = useFormat()
  const [until, setUntil] = useState(f.date(serverNow() + 2 * day))
  const [reason, setReason] = useState('')
  const write = useWrite('post', '/subscriptions/{id}/hold', { told: () => t.heldTold, then: onClose })
  return (
    <FormDialog
      title={t.holdTitle(plan)}
      hint={t.holdDoes}
      verb={t.hold}
      ready={until !== '' && reason.trim() !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id } },
        body: { until: endOfDay(until, f.zone.timezone).toISOString(), reason: reason.trim() },
      })}
      onClose={onClose}
    >
      <TextInput
        type="date"
        label={t.until}
        value={until}
        min={f.date(serverNow())}
        onChange={(e) => setUntil(e.currentTarget.value)}
        error={write.error?.of('until')}
        required
        withAsterisk={false}
        data-autofocus
      />
      <Textarea
        label={words.reason}
        description={words.reasonWhy}
        value={reason}
        onChange={(e) => setReason(e.currentTarget.value)}
        maxLength={500}
        required
        withAsterisk={false}
        autosize
      />
    </FormDialog>
  )
}

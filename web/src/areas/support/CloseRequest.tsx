import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { supportText } from '../../text/support'
import { FormDialog } from '../../ui/FormDialog'

/** CloseRequest ends a request. */
export function CloseRequest({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useText(supportText)
  const [reason, setReason] = useState('')
  const write = useWrite('post', '/support-requests/{id}/close', { told: () => t.closed, then: onClose })
  return (
    <FormDialog
      title={t.closeTitle}
      hint={t.closeHint}
      verb={t.closeTitle}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ params: { path: { id } }, body: reason.trim() ? { reason } : {} })}
      onClose={onClose}
    >
      <TextInput label={t.reason} description={t.reasonHint} value={reason} onChange={(e) => setReason(e.currentTarget.value)} error={write.error?.of('reason')} maxLength={500} autoComplete="off" data-autofocus />
    </FormDialog>
  )
}

import { Select } from '@mantine/core'
import { useState } from 'react'
import { useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { supportText } from '../../text/support'
import { FormDialog } from '../../ui/FormDialog'
import { ProblemNote } from '../../ui/ProblemNote'

/** GiveRequest gives a request to a member of staff, or to nobody in particular. */
export function GiveRequest({ of: r, onClose }: { of: Shape<'SupportResponse'>; onClose: () => void }) {
  const t = useText(supportText)
  const [to, setTo] = useState<string | null>(r.assignee?.id ?? null)
  const staff = useRows('/users', {})
  const write = useWrite('post', '/support-requests/{id}/assign', { told: () => t.given, then: onClose })
  return (
    <FormDialog
      title={t.give}
      verb={t.give}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ params: { path: { id: r.id } }, body: { userId: to } })}
      onClose={onClose}
    >
      <Select
        label={t.person}
        placeholder={t.nobody}
        value={to}
        onChange={setTo}
        clearable
        data={staff.rows.filter((u) => u.role !== 'subscriber').map((u) => ({ value: u.id, label: [u.firstName, u.lastName].filter(Boolean).join(' ') || u.id }))}
      />
      {staff.error ? <ProblemNote of={staff.error} retry={staff.refetch} /> : null}
    </FormDialog>
  )
}

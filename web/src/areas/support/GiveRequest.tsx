import { Select } from '@mantine/core'
import { useState } from 'react'
import { useAll } from '../../api/all'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { supportText } from '../../text/support'
import { FormDialog } from '../../ui/FormDialog'
import { PartNote } from '../../ui/PartNote'

const noFilters = {}

/** mayHave leaves out whom the server refuses: customers, and those whose access has ended. */
const mayHave = (u: Shape<'MemberResponse'>) => u.role !== 'subscriber' && u.status !== 'disabled'

/** GiveRequest gives a request to a member of staff, or to nobody in particular. */
export function GiveRequest({ of: r, onClose }: { of: Shape<'SupportResponse'>; onClose: () => void }) {
  const t = useText(supportText)
  const [to, setTo] = useState<string | null>(r.assignee?.id ?? null)
  const staff = useAll('/users', noFilters)
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
        searchable
        data={(staff.rows ?? []).filter((u) => mayHave(u) || u.id === r.assignee?.id).map((u) => ({ value: u.id, label: [u.firstName, u.lastName].filter(Boolean).join(' ') || u.id }))}
      />
      <PartNote of={staff} />
    </FormDialog>
  )
}

import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAll } from '../../api/all'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { FormDialog } from '../../ui/FormDialog'
import { organizationLabel } from '../../ui/organizationLabel'
import { PartNote } from '../../ui/PartNote'
import { idIn } from './owner'

const allOrgs = {}

/**
 * AssignDialog gives a device to an organization, perhaps with its customer: for the operator of the platform, to whom
 * the names of customers are shown at the organization's own address alone.
 */
export function AssignDialog({ of: d, onClose }: { of: Row<'/cpe/pending'>; onClose: () => void }) {
  const t = useText(devicesText)
  const [org, setOrg] = useState<string | null>(null)
  const [typed, setTyped] = useState('')
  const customer = idIn(typed)
  const unnamed = typed.trim() !== '' && customer === null
  const orgs = useAll('/orgs', allOrgs)
  const write = useWrite('post', '/cpe/pending/{id}/assign', { told: () => t.assigned, then: onClose })
  return (
    <FormDialog
      title={t.assignTitle(d.serialNumber)}
      hint={t.assignHint}
      verb={t.assign}
      ready={org !== null && !unnamed}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => org && write.mutate({ params: { path: { id: d.id } }, body: { orgId: org, userId: customer ?? undefined } })}
      onClose={onClose}
    >
      <Select
        label={t.organization}
        data={(orgs.rows ?? []).map((o) => ({ value: o.id, label: organizationLabel(o) }))}
        value={org}
        onChange={setOrg}
        searchable
        data-autofocus
      />
      <PartNote of={orgs} />
      <TextInput
        label={t.claimCustomer} description={t.assignCustomerHint} value={typed} onChange={(e) => setTyped(e.currentTarget.value)}
        error={unnamed ? t.assignNobody : write.error?.of('userId')} maxLength={500} autoComplete="off" spellCheck={false}
      />
    </FormDialog>
  )
}

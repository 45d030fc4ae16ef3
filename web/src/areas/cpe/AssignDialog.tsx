import { Select } from '@mantine/core'
import { useState } from 'react'
import { useAll } from '../../api/all'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { FormDialog } from '../../ui/FormDialog'
import { organizationLabel } from '../../ui/organizationLabel'
import { PartNote } from '../../ui/PartNote'

const allOrgs = {}

/** AssignDialog gives a device to an organization: for the operator of the platform. */
export function AssignDialog({ of: d, onClose }: { of: Row<'/cpe/pending'>; onClose: () => void }) {
  const t = useText(devicesText)
  const [org, setOrg] = useState<string | null>(null)
  const orgs = useAll('/orgs', allOrgs)
  const write = useWrite('post', '/cpe/pending/{id}/assign', { told: () => t.assigned, then: onClose })
  return (
    <FormDialog
      title={t.assignTitle(d.serialNumber)}
      hint={t.assignHint}
      verb={t.assign}
      ready={org !== null}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => org && write.mutate({ params: { path: { id: d.id } }, body: { orgId: org } })}
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
    </FormDialog>
  )
}

import { Checkbox, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { onuText } from '../../text/onu'
import { FormDialog } from '../../ui/FormDialog'
import { noOnu, onuOf } from './onu'
import { OnuFields } from './OnuFields'
import { noOwner, type Owner } from './owner'
import { OwnerFields } from './OwnerFields'

/** ClaimDialog takes a device for the organization: at once, or with its customer, its name, its place and its ONU. */
export function ClaimDialog({ of: d, onClose }: { of: Row<'/cpe/pending'>; onClose: () => void }) {
  const t = useText(devicesText)
  const words = useText(onuText)
  const navigate = useNavigate()
  const [owner, setOwner] = useState<Owner>(noOwner)
  const [label, setLabel] = useState('')
  const [location, setLocation] = useState('')
  const [optical, setOptical] = useState(false)
  const [typed, setTyped] = useState(noOnu)
  const onu = optical ? onuOf(typed) : undefined
  const write = useWrite('post', '/cpe/pending/{id}/claim', {
    told: () => t.claimed,
    then: () => {
      onClose()
      void navigate({ to: '/devices/$id', params: { id: d.id } })
    },
  })
  return (
    <FormDialog
      title={t.claimTitle(d.serialNumber)}
      hint={t.claimHint}
      verb={t.claim}
      ready={owner.subscriptionId !== undefined && onu !== null}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id: d.id } },
        body: {
          subscriberId: owner.customer?.id, subscriptionId: owner.subscriptionId ?? undefined,
          label: label.trim() || undefined, location: location.trim() || undefined, onu: onu ?? undefined,
        },
      })}
      onClose={onClose}
    >
      <OwnerFields of={owner} onChange={setOwner} label={t.claimCustomer} />
      <TextInput label={t.label} description={t.labelHint} value={label} onChange={(e) => setLabel(e.currentTarget.value)} error={write.error?.of('label')} maxLength={60} autoComplete="off" />
      <TextInput label={t.location} description={t.locationHint} value={location} onChange={(e) => setLocation(e.currentTarget.value)} error={write.error?.of('location')} maxLength={120} autoComplete="off" />
      {d.takesOnu && <Checkbox label={words.withClaim} checked={optical} onChange={(e) => setOptical(e.currentTarget.checked)} />}
      {optical && <OnuFields of={typed} error={write.error} onChange={setTyped} />}
    </FormDialog>
  )
}

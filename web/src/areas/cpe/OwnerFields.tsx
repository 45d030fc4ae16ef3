import { NativeSelect } from '@mantine/core'
import { useEffect } from 'react'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { CustomerPicker } from '../../ui/CustomerPicker'
import { ProblemNote } from '../../ui/ProblemNote'
import { loginsOf, noOwner, type Owner } from './owner'

/** OwnerFields chooses a customer, and the service whose login a device gets where there are several. */
export function OwnerFields({ of, onChange, label }: { of: Owner; onChange: (owner: Owner) => void; label?: string }) {
  const t = useText(devicesText)
  const id = of.customer?.id
  const read = api.useQuery('get', '/subscriptions', { params: { query: { subscriberId: id, limit: 100 } } }, { enabled: id !== undefined })
  const logins = id === undefined || !read.data ? null : loginsOf(read.data.data)
  const several = logins !== null && logins.length > 1
  const first = several ? logins[0]?.id : null
  // Until the services are read nobody knows whether one has to be chosen.
  useEffect(() => {
    if (logins !== null && of.subscriptionId === undefined) onChange({ ...of, subscriptionId: first ?? null })
  })
  return (
    <>
      <CustomerPicker
        chosen={of.customer}
        label={label}
        onChoose={(customer) => onChange(customer ? { customer, subscriptionId: undefined } : noOwner)}
      />
      {several && (
        <NativeSelect
          label={t.whichService}
          value={of.subscriptionId ?? ''}
          onChange={(e) => onChange({ ...of, subscriptionId: e.currentTarget.value })}
          data={logins.map((s) => ({ value: s.id, label: s.username ? `${s.planName} (${s.username})` : s.planName }))}
        />
      )}
      {read.error ? <ProblemNote of={read.error} retry={() => void read.refetch()} /> : null}
    </>
  )
}

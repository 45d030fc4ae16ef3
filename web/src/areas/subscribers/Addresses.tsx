import { Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { FormDialog } from '../../ui/FormDialog'

/** Addresses changes which devices may sign in, and the fixed address. */
export function Addresses({ of: s, onClose }: { of: Pick<Row<'/subscriptions'>, 'id' | 'planName' | 'macAddresses' | 'staticIp'>; onClose: () => void }) {
  const t = useText(customerText)
  const [macs, setMacs] = useState(s.macAddresses.join('\n'))
  const [staticIp, setStaticIp] = useState(s.staticIp ?? '')
  const write = useWrite('patch', '/subscriptions/{id}', { told: () => t.saved, then: onClose })
  return (
    <FormDialog
      title={t.addressesTitle(s.planName)}
      verb={t.save}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id: s.id } },
        body: { macAddresses: macs.split(/[\s,;]+/).filter(Boolean), staticIp: staticIp.trim() || null },
      })}
      onClose={onClose}
    >
      <Textarea
        label={t.macs} description={t.macsHint} value={macs} onChange={(e) => setMacs(e.currentTarget.value)} autosize minRows={2}
        error={write.error?.of('macAddresses')} data-autofocus
      />
      <TextInput
        label={t.staticIp} description={t.staticHint} value={staticIp} onChange={(e) => setStaticIp(e.currentTarget.value)}
        error={write.error?.of('staticIp')}
      />
    </FormDialog>
  )
}

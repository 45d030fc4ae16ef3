import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { instantOf, localOf } from '../../text/instant'
import { outagesText } from '../../text/outages'
import { FormDialog } from '../../ui/FormDialog'
import { InstantField } from '../../ui/InstantField'

/** EndOutage ends an outage now, or at an instant that is over. */
export function EndOutage({ of: o, onClose }: { of: Shape<'OutageResponse'>; onClose: () => void }) {
  const t = useText(outagesText)
  const { zone: { timezone } } = useFormat()
  const [first] = useState(() => localOf(serverNow(), timezone))
  const [at, setAt] = useState(first)
  const write = useWrite('post', '/outages/{id}/end', { told: () => t.endDone, then: onClose })
  return (
    <FormDialog
      title={t.end}
      hint={t.endDoes}
      verb={t.end}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id: o.id } },
        // Who changes nothing means now, and not the beginning of the present minute.
        body: at && at !== first ? { endedAt: instantOf(at, timezone).toISOString() } : {},
      })}
      onClose={onClose}
    >
      <InstantField label={t.endedAt} value={at} onChange={setAt} error={write.error?.of('endedAt')} />
    </FormDialog>
  )
}

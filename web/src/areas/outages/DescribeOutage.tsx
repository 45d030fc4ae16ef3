import { Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { instantOf, localOf } from '../../text/instant'
import { outagesText } from '../../text/outages'
import { FormDialog } from '../../ui/FormDialog'
import { InstantField } from '../../ui/InstantField'

/** DescribeOutage changes what everybody reads about an outage. Only what was changed is sent: two people may write at once. */
export function DescribeOutage({ of: o, onClose }: { of: Shape<'OutageResponse'>; onClose: () => void }) {
  const t = useText(outagesText)
  const { zone: { timezone } } = useFormat()
  const [before] = useState({
    title: o.title ?? '', message: o.message ?? '', end: o.expectedEnd ? localOf(Date.parse(o.expectedEnd), timezone) : '',
  })
  const [typed, setTyped] = useState(before)
  const write = useWrite('patch', '/outages/{id}', { told: () => t.described, then: onClose })
  return (
    <FormDialog
      title={t.describe}
      verb={t.save}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id: o.id } },
        body: {
          ...(typed.title !== before.title && { title: typed.title }),
          ...(typed.message !== before.message && { message: typed.message }),
          ...(typed.end !== before.end && { expectedEnd: typed.end ? instantOf(typed.end, timezone).toISOString() : null }),
        },
      })}
      onClose={onClose}
    >
      <TextInput label={t.title} description={t.titleHint} value={typed.title} onChange={(e) => setTyped({ ...typed, title: e.currentTarget.value })} error={write.error?.of('title')} maxLength={80} autoComplete="off" data-autofocus />
      <Textarea label={t.message} description={t.messageHint} value={typed.message} onChange={(e) => setTyped({ ...typed, message: e.currentTarget.value })} error={write.error?.of('message')} maxLength={500} autosize />
      <InstantField label={t.expectedEnd} description={t.expectedEndHint} value={typed.end} onChange={(end) => setTyped({ ...typed, end })} error={write.error?.of('expectedEnd')} />
    </FormDialog>
  )
}

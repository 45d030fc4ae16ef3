import { Checkbox, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { instantOf, localOf } from '../../text/instant'
import { outageTellingText } from '../../text/outageTelling'
import { outagesText } from '../../text/outages'
import { FormDialog } from '../../ui/FormDialog'
import { InstantField } from '../../ui/InstantField'
import { noPlace, sentPlace } from './place'
import { PlaceFields } from './PlaceFields'

/** BeginOutage says that there is an outage which the platform cannot see. */
export function BeginOutage({ onClose }: { onClose: () => void }) {
  const t = useText(outagesText)
  const telling = useText(outageTellingText)
  const { zone: { timezone } } = useFormat()
  const navigate = useNavigate()
  const [place, setPlace] = useState(noPlace)
  const [title, setTitle] = useState('')
  const [message, setMessage] = useState('')
  const [first] = useState(() => localOf(serverNow(), timezone))
  const [since, setSince] = useState(first)
  const [until, setUntil] = useState('')
  const [tell, setTell] = useState(true)
  const write = useWrite('post', '/outages', {
    told: () => t.begun,
    then: (made) => {
      onClose()
      void navigate({ to: '/outages/$id', params: { id: made.id } })
    },
  })
  const where = sentPlace(place)
  const at = (local: string) => instantOf(local, timezone).toISOString()
  return (
    <FormDialog
      title={t.begin}
      hint={t.beginHint}
      verb={t.begin}
      ready={where !== null}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => where && write.mutate({
        body: {
          ...where,
          ...(title.trim() && { title: title.trim() }),
          ...(message.trim() && { message: message.trim() }),
          // The present minute has begun already: who changes nothing means now.
          ...(since && since !== first && { startedAt: at(since) }),
          ...(until && { expectedEnd: at(until) }),
          ...(!tell && { tell }),
        },
      })}
      onClose={onClose}
    >
      <PlaceFields value={place} onChange={setPlace} problem={write.error} />
      <TextInput label={t.title} description={t.titleHint} value={title} onChange={(e) => setTitle(e.currentTarget.value)} error={write.error?.of('title')} maxLength={80} autoComplete="off" />
      <Textarea label={t.message} description={t.messageHint} value={message} onChange={(e) => setMessage(e.currentTarget.value)} error={write.error?.of('message')} maxLength={500} autosize />
      <InstantField label={t.startedAt} value={since} onChange={setSince} error={write.error?.of('startedAt')} />
      <Checkbox label={telling.tellNow} description={telling.tellNowHint} checked={tell} onChange={(e) => setTell(e.currentTarget.checked)} />
      <InstantField label={t.expectedEnd} description={t.expectedEndHint} value={until} onChange={setUntil} error={write.error?.of('expectedEnd')} />
    </FormDialog>
  )
}

import { Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { dunningText } from '../../text/dunning'
import { useFormat } from '../../text/format'
import { dayAfter, instantOf } from '../../text/instant'
import { uiText } from '../../text/ui'
import { Confirm } from '../../ui/Confirm'
import { FormDialog } from '../../ui/FormDialog'

/** Holdable is the service whose clock is to be stopped; name is what the dialog calls it, or its customer. */
interface Holdable {
  subscriptionId: string
  name: string
  /** hold is the present one, if it is known. */
  hold?: { until: string; reason: string } | null
}

/** PlaceHold stops the clock until the end of a day, or moves that day: the customer has promised to pay. */
export function PlaceHold({ of: r, onClose }: { of: Holdable; onClose: () => void }) {
  const t = useText(dunningText)
  const words = useText(uiText)
  const f = useFormat()
  const today = f.date(serverNow())
  const [until, setUntil] = useState(r.hold ? f.date(Date.parse(r.hold.until) - 1) : dayAfter(today, 2))
  const [reason, setReason] = useState(r.hold?.reason ?? '')
  const write = useWrite('post', '/subscriptions/{id}/hold', {
    told: () => t.placed(f.day(until)),
    then: onClose,
  })
  return (
    <FormDialog
      title={t.placeTitle(r.name)}
      hint={t.placeDoes}
      verb={r.hold ? t.move : t.place}
      ready={until !== '' && reason.trim() !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id: r.subscriptionId } },
        body: { until: instantOf(dayAfter(until, 1), f.zone.timezone).toISOString(), reason: reason.trim() },
      })}
      onClose={onClose}
    >
      <TextInput
        type="date"
        label={t.until}
        value={until}
        min={today}
        onChange={(e) => setUntil(e.currentTarget.value)}
        error={write.error?.of('until')}
        required
        withAsterisk={false}
        data-autofocus
      />
      <Textarea
        label={words.reason}
        description={words.reasonWhy}
        value={reason}
        onChange={(e) => setReason(e.currentTarget.value)}
        maxLength={500}
        required
        withAsterisk={false}
        autosize
      />
    </FormDialog>
  )
}

/** LiftHold ends a hold before its time. */
export function LiftHold({ of: r, onClose }: { of: Holdable; onClose: () => void }) {
  const t = useText(dunningText)
  const write = useWrite('delete', '/subscriptions/{id}/hold', { told: () => t.lifted, then: onClose })
  return (
    <Confirm
      title={t.liftTitle(r.name)}
      verb={t.lift}
      danger
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: r.subscriptionId } } })}
      onClose={onClose}
    >
      {r.hold ? t.liftDoes(r.hold.reason) : t.liftDoesAlone}
    </Confirm>
  )
}

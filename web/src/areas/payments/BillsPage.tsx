import { Button, Stack, Switch, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useVersioned, type Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { billManagerText } from '../../text/billManager'
import { useText } from '../../text/catalogue'
import { uiText } from '../../text/ui'
import { Confirm } from '../../ui/Confirm'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { EditedNote } from '../../ui/EditedNote'
import { Empty } from '../../ui/Empty'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { SaveBar } from '../../ui/SaveBar'
import { State, type Tone } from '../../ui/State'
import { useEdited } from '../../ui/useEdited'
import { When } from '../../ui/When'

type Bill = Row<'/bill-manager/invoices'>
type Settings = Shape<'BillSettingsResponse'>

const tones: Record<Bill['state'], Tone> = {
  queued: 'attention', sent: 'good', failed: 'bad', cancelled: 'quiet', paid: 'good', acknowledged: 'good',
}

/** BillsPage answers: which invoices are at the provider's bill manager, and which could not go there? */
export default function BillsPage() {
  const t = useText(billManagerText)
  const words = useText(uiText)
  const may = useMay()
  const [state, setState] = useState<Bill['state']>()
  const [cancelled, setCancelled] = useState<Bill | null>(null)
  const list = useRows('/bill-manager/invoices', state === undefined ? {} : { state })
  const any = state !== undefined
  const columns: Column<Bill>[] = [
    {
      id: 'number', title: t.number, width: 136, narrow: 112,
      cell: (b) => <Link to="/invoices/$id" params={{ id: b.invoiceId }}>{b.number}</Link>,
    },
    { id: 'customer', title: t.customer, width: 200, wideOnly: true, cell: (b) => <CustomerLink of={b.subscriber} /> },
    { id: 'state', title: t.state, cell: (b) => <Told of={b} /> },
    { id: 'since', title: t.since, width: 136, wideOnly: true, cell: (b) => <When at={b.sentAt ?? b.queuedAt} /> },
    { id: 'act', title: '', width: 130, narrow: 120, cell: (b) => <Act of={b} onCancel={() => setCancelled(b)} /> },
  ]
  return (
    <Page title={t.title} wide>
      {may('GET /settings/bill-manager') && <SettingsSection />}
      <Filters any={any} onClear={() => setState(undefined)}>
        <ChoiceFilter
          value={state}
          label={t.state}
          names={t.states}
          onChange={setState}
        />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(b) => b.invoiceId}
        label={t.title}
        empty={any ? <Empty title={words.nothingFits} /> : <Empty title={t.none}>{t.noneHint}</Empty>}
      />
      {cancelled && <Cancel of={cancelled} onClose={() => setCancelled(null)} />}
    </Page>
  )
}

/** Told is the state of a bill with why it failed, or why it is not sent yet. */
function Told({ of: b }: { of: Bill }) {
  const t = useText(billManagerText)
  const more = b.leaving ? t.leaving : b.code === 'document_not_signed' ? t.unsigned : b.error
  return (
    <>
      <State tone={tones[b.state]}>{t.states[b.state]}</State>
      {more && <Text span inherit c="dimmed" title={more}> · {more}</Text>}
    </>
  )
}

/** Act sends a bill again that failed or was cancelled, or takes one back that is there. */
function Act({ of: b, onCancel }: { of: Bill; onCancel: () => void }) {
  const t = useText(billManagerText)
  const may = useMay()
  const write = useWrite('post', '/bill-manager/invoices', { told: () => t.retryDone(b.number) })
  if ((b.state === 'failed' || b.state === 'cancelled') && may('POST /bill-manager/invoices')) {
    return (
      <Button
        size="compact-sm"
        variant="default"
        aria-label={t.retryTitle(b.number)}
        loading={write.isPending}
        onClick={() => write.mutate({ body: { invoiceIds: [b.invoiceId] } })}
      >
        {t.retry}
      </Button>
    )
  }
  if ((b.state === 'sent' || b.state === 'queued') && !b.leaving && may('POST /bill-manager/invoices/{id}/cancel')) {
    return <Button size="compact-sm" variant="default" aria-label={t.cancelTitle(b.number)} onClick={onCancel}>{t.cancel}</Button>
  }
  return null
}

/** Cancel says what taking a bill back means, and does it. */
function Cancel({ of: b, onClose }: { of: Bill; onClose: () => void }) {
  const t = useText(billManagerText)
  const write = useWrite('post', '/bill-manager/invoices/{id}/cancel', { told: () => t.cancelDone(b.number), then: onClose })
  return (
    <Confirm
      title={t.cancelTitle(b.number)}
      verb={t.cancel}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: b.invoiceId } } })}
      onClose={onClose}
    >
      {t.cancelWhat}
    </Confirm>
  )
}

/** SettingsSection shows the settings, or why this organization has none. */
function SettingsSection() {
  const t = useText(billManagerText)
  const read = useVersioned('/settings/bill-manager', {})
  return (
    <Section title={t.settings}>
      <Loaded read={read} height={160}>
        {(settings) => <SettingsForm settings={settings} reread={() => void read.refetch()} />}
      </Loaded>
    </Section>
  )
}

const formOf = ({ enabled, reminders }: Settings) => ({ enabled, reminders })

/** SettingsForm turns the bill manager on or off. */
function SettingsForm({ settings, reread }: { settings: Versioned<Settings>; reread: () => void }) {
  const t = useText(billManagerText)
  const words = useText(uiText)
  const save = useWrite('put', '/settings/bill-manager', { told: () => t.saved, shown: () => edited.undo() })
  const edited = useEdited(settings, formOf, save.isPending)
  const { values, set } = edited
  const both = values.enabled && !values.reminders && settings.value.providerReminds
  const yesNo = (on: boolean) => (on ? words.yes : words.no)
  return (
    <Form
      busy={save.isPending}
      onSubmit={() => {
        if (edited.dirty && !edited.meanwhile) save.mutate({ headers: edited.headers, body: values })
      }}
    >
      <Stack gap="md">
        <Switch
          label={t.enabled}
          description={t.enabledHint}
          checked={values.enabled}
          onChange={(e) => set({ enabled: e.currentTarget.checked })}
          maw={640}
        />
        <Switch
          label={t.reminders}
          description={t.remindersHint}
          checked={values.reminders}
          onChange={(e) => set({ reminders: e.currentTarget.checked })}
          maw={640}
        />
        {both && <Text size="sm" role="note">{t.bothRemind}</Text>}
        <EditedNote
          edited={edited}
          names={{ enabled: [t.enabled, yesNo], reminders: [t.reminders, yesNo] }}
          error={save.error}
          onTake={() => {
            save.reset()
            reread()
          }}
        />
        <SaveBar edited={edited} pending={save.isPending} />
      </Stack>
    </Form>
  )
}

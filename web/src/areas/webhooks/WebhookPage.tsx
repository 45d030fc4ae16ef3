import { Alert, Button, Text } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useRows } from '../../api/rows'
import { useVersioned } from '../../api/versioned'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { uiText } from '../../text/ui'
import { webhooksText } from '../../text/webhooks'
import { ActionMenu } from '../../ui/ActionMenu'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { TriangleAlert } from '../../ui/icons'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { PingButton, PingOutcome, usePing } from './Ping'
import { useFresh } from './useFresh'
import { AboutLink, type Delivery, DeliveryState, type Endpoint, EndpointState, isFailing } from './words'

const ChangeEndpoint = later(() => import('./EndpointDialogs').then((m) => m.ChangeEndpoint))
const RotateSecret = later(() => import('./EndpointDialogs').then((m) => m.RotateSecret))
const SwitchEndpoint = later(() => import('./EndpointDialogs').then((m) => m.SwitchEndpoint))
const RemoveEndpoint = later(() => import('./EndpointDialogs').then((m) => m.RemoveEndpoint))

/** WebhookPage answers about one address: is it told of what happens, if not why and what helps, and what went there? */
export default function WebhookPage() {
  const t = useText(webhooksText)
  const may = useMay()
  const { id } = useParams({ from: '/webhooks/$id' })
  const read = useVersioned('/webhook-endpoints/{id}', { params: { path: { id } } })
  const ping = usePing(read.data?.value)
  const [doing, setDoing] = useState<'change' | 'rotate' | 'switch' | 'remove' | null>(null)
  const close = () => setDoing(null)
  const e = read.data?.value
  const actions = e && may('PATCH /webhook-endpoints/{id}') && (
    <>
      <PingButton of={ping} />
      <Button variant={isFailing(e) ? 'filled' : 'default'} onClick={() => setDoing('switch')}>{e.state === 'enabled' ? t.pause : t.enable}</Button>
      <ActionMenu
        label={t.actions}
        button={{ variant: 'default', size: 'md' }}
        actions={[
          { key: 'change', label: t.edit, onClick: () => setDoing('change') },
          { key: 'rotate', label: t.rotate, onClick: () => setDoing('rotate') },
          { key: 'remove', label: t.remove, danger: true, onClick: () => setDoing('remove') },
        ]}
      />
    </>
  )
  return (
    <Page title={e?.description || t.endpoint} wide actions={actions}>
      <Loaded read={read} height={280}>
        {({ value }) => (
          <>
            <Trouble of={value} />
            <PingOutcome of={ping} />
            <EndpointFacts of={value} />
          </>
        )}
      </Loaded>
      <Deliveries id={id} />
      {read.data && doing === 'change' && <ChangeEndpoint read={read.data} reread={() => void read.refetch()} onClose={close} />}
      {e && doing === 'rotate' && <RotateSecret of={e} onClose={close} />}
      {e && doing === 'switch' && <SwitchEndpoint of={e} onClose={close} />}
      {e && doing === 'remove' && <RemoveEndpoint of={e} onClose={close} />}
    </Page>
  )
}

/** Trouble tells why an address is told of nothing, since when, and what to do. */
function Trouble({ of: e }: { of: Endpoint }) {
  const t = useText(webhooksText)
  const f = useFormat()
  if (e.state === 'enabled') return null
  if (!isFailing(e)) return <Text size="sm" c="dimmed">{t.pausedHint}</Text>
  return (
    <Alert color="red" variant="outline" icon={<TriangleAlert size={18} aria-hidden />} title={t.failingTitle} p="sm">
      {e.failingSince && <Text size="sm">{t.failingSince(f.exact(e.failingSince))}</Text>}
      <Text size="sm">{t.failingWhat}</Text>
    </Alert>
  )
}

function EndpointFacts({ of: e }: { of: Endpoint }) {
  const t = useText(webhooksText)
  return (
    <Facts
      of={[
        [t.state, <EndpointState key="s" of={e} />],
        [t.since, <When key="w" at={e.stateAt} exact />],
        [t.address, <span key="a" className="secret">{e.url}</span>],
        [t.types, e.types.map((of) => t.typeNames[of] ?? of).join(', ')],
        [t.registered, <When key="r" at={e.createdAt} exact />],
        [t.formerUntil, e.formerSecretUntil && <When key="f" at={e.formerSecretUntil} exact />],
      ]}
    />
  )
}

/** Deliveries is the log of one address. */
function Deliveries({ id }: { id: string }) {
  const t = useText(webhooksText)
  const words = useText(uiText)
  const { state } = useSearch({ from: '/webhooks/$id' })
  const navigate = useNavigate({ from: '/webhooks/$id' })
  const list = useRows('/webhook-deliveries', useMemo(() => ({ endpointId: id, state }), [id, state]))
  useFresh(list.queryKey)
  const columns: Column<Delivery>[] = [
    {
      id: 'type', title: t.type,
      cell: (d) => <Link to="/webhooks/deliveries/$id" params={{ id: d.id }} title={d.type}>{t.typeNames[d.type] ?? d.type}</Link>,
    },
    { id: 'state', title: t.state, width: 130, narrow: 116, cell: (d) => <DeliveryState of={d} /> },
    { id: 'about', title: t.about, width: 160, wideOnly: true, cell: (d) => <AboutLink of={d} /> },
    { id: 'tries', title: t.tries, width: 84, figure: true, wideOnly: true, cell: (d) => d.tries },
    { id: 'answer', title: t.answer, width: 84, figure: true, wideOnly: true, cell: (d) => d.attempts.at(-1)?.status ?? t.noAnswer },
    { id: 'next', title: t.next, width: 150, wideOnly: true, cell: (d) => <When at={d.nextAttemptAt} /> },
    { id: 'at', title: t.at, width: 140, narrow: 100, cell: (d) => <When at={d.createdAt} /> },
  ]
  const clear = () => void navigate({ search: {} })
  return (
    <Section title={t.deliveries}>
      <Filters any={state !== undefined} onClear={clear}>
        <ChoiceFilter
          value={state} label={t.state} names={t.deliveryStates}
          onChange={(next) => void navigate({ search: next ? { state: next } : {}, replace: true })}
        />
      </Filters>
      <DataTable
        list={list}
        columns={columns}
        rowKey={(d) => d.id}
        label={t.deliveries}
        empty={state ? <Empty title={words.nothingFits} /> : <Empty title={t.noDeliveries}>{t.noDeliveriesHint}</Empty>}
      />
    </Section>
  )
}

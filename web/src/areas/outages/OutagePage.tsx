import { Button, Group, Stack, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { outageTellingText } from '../../text/outageTelling'
import { outagesText } from '../../text/outages'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { RouterLink } from '../../ui/RouterLink'
import { State } from '../../ui/State'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { Sums, toneOfCompensation } from './CompensationParts'
import { seconds, toneOf } from './OutagesPage'
import { untold } from './told'
import { nameOf, placeOf } from './place'

const DescribeOutage = later(() => import('./DescribeOutage').then((m) => m.DescribeOutage))
const TellOutage = later(() => import('./TellOutage').then((m) => m.TellOutage))
const EndOutage = later(() => import('./EndOutage').then((m) => m.EndOutage))

type Outage = Shape<'OutageResponse'>

const often = { refetchInterval: 30_000 }

/** OutagePage answers: what is down since when, who is without service, what were they told, and what do they get? */
export default function OutagePage() {
  const t = useText(outagesText)
  const { id } = useParams({ from: '/outages/$id' })
  const read = api.useQuery('get', '/outages/{id}', { params: { path: { id } } }, often)
  return (
    <Page title={read.data ? nameOf(read.data, t) : t.outage} wide actions={read.data && <Actions of={read.data} />}>
      <Loaded read={read} height={320}>{(o) => <Story of={o} />}</Loaded>
    </Page>
  )
}

function Actions({ of: o }: { of: Outage }) {
  const t = useText(outagesText)
  const telling = useText(outageTellingText)
  const may = useMay()
  const [doing, setDoing] = useState<'tell' | 'describe' | 'end' | null>(null)
  const close = () => setDoing(null)
  return (
    <>
      {untold(o) && may('POST /outages/{id}/tell') && <Button onClick={() => setDoing('tell')}>{telling.tellThem}</Button>}
      {may('PATCH /outages/{id}') && <Button variant="default" onClick={() => setDoing('describe')}>{t.describe}</Button>}
      {o.state === 'running' && may('POST /outages/{id}/end') && <Button variant="default" onClick={() => setDoing('end')}>{t.end}</Button>}
      {o.state === 'ended' && may('POST /compensations') && (
        <Button renderRoot={(props) => <Link {...props} to="/compensations/new" search={{ outageId: o.id }} />}>{t.compensate}</Button>
      )}
      {doing === 'describe' && <DescribeOutage of={o} onClose={close} />}
      {doing === 'tell' && <TellOutage of={o} onClose={close} />}
      {doing === 'end' && <EndOutage of={o} onClose={close} />}
    </>
  )
}

function Story({ of: o }: { of: Outage }) {
  const t = useText(outagesText)
  const f = useFormat()
  const customers = o.customers ?? 0
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        <div role="status"><State tone={toneOf(o)}>{t.states[o.state]}: {o.endedAt ? t.customersHit(customers) : t.customersOff(customers)}</State></div>
        {o.mergedInto && <Text size="sm">{t.merged} <Link to="/outages/$id" params={{ id: o.mergedInto }}>{t.openOther}</Link></Text>}
      </Stack>
      <Facts
        of={[
          [t.where, o.deviceId ? <RouterLink key="where" id={o.deviceId} name={o.deviceName} /> : o.serviceId && o.service ? <To key="service" way={{ to: `/services/${o.serviceId}` }}>{placeOf(o, t)}</To> : placeOf(o, t)],
          [t.routers, o.devices.length > 0 ? <Devices key="devices" of={o.devices} /> : null],
          [t.began, <When key="began" at={o.startedAt} exact />],
          [t.ended, o.endedAt ? <When key="ended" at={o.endedAt} exact /> : null],
          [t.lasted, o.endedAt ? f.duration(seconds(o)) : null],
          [t.expectedEnd, o.expectedEnd ? <When key="expected" at={o.expectedEnd} exact /> : null],
          [t.noticed, o.detected ? t.byItself : o.begunBy?.name],
        ]}
      />
      <Section title={t.said}>
        {o.title && <Text size="sm" fw={500}>{o.title}</Text>}
        <Text size="sm" c={o.message ? undefined : 'dimmed'} style={{ overflowWrap: 'anywhere' }}>{o.message ?? t.nothingSaid}</Text>
        <a href="/status" target="_blank" rel="noreferrer">{t.statusPage}</a>
      </Section>
      <Told of={o} />
      <Given of={o} />
      <Section title={t.hit}>
        <Text size="sm" c="dimmed">{t.hitHint}</Text>
        <Hit id={o.id} />
      </Section>
    </Stack>
  )
}

function Devices({ of }: { of: Outage['devices'] }) {
  return <Group component="span" gap={8}>{of.map((d) => <span key={d.id}><RouterLink id={d.id} name={d.name} /></span>)}</Group>
}

/** Told says what became of the messages. */
function Told({ of: o }: { of: Outage }) {
  const t = useText(outagesText)
  const telling = useText(outageTellingText)
  const f = useFormat()
  if (!o.told) return null
  const counted = (c: Shape<'ToldCount'>) => [
    t.toldOf(c.sent, c.asked), c.waiting > 0 && t.waiting(c.waiting), c.failed > 0 && t.failed(c.failed), c.dropped > 0 && t.dropped(c.dropped),
  ].filter(Boolean).join(', ')
  const { began, over } = o.told
  const none = began.asked + over.asked === 0
  return (
    <Section title={t.told}>
      {none && <Text size="sm">{o.endedAt ? t.notTold : o.tellAfter ? t.willTell(f.short(o.tellAfter)) : o.detected ? telling.proposed : telling.notYetTold}</Text>}
      {!none && <Facts of={[[t.toldBegan, counted(began)], [t.toldOver, over.asked > 0 ? counted(over) : null]]} />}
      {!none && <Text size="sm"><To way={{ to: '/messages', search: { outageId: o.id } }}>{t.toMessages}</To></Text>}
    </Section>
  )
}

/** Given lists the compensations that were made from the outage. */
function Given({ of: o }: { of: Outage }) {
  const t = useText(outagesText)
  const list = api.useQuery('get', '/compensations', { params: { query: { outageId: o.id } } })
  return (
    <Section title={t.given}>
      <Loaded read={list} height={32}>
        {({ data }) => data.length === 0 ? <Text size="sm" c="dimmed">{o.endedAt ? t.noneGiven : t.afterTheEnd}</Text> : (
          <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: 'none' }}>
            {data.map((c) => (
              <li key={c.id}>
                <Link to="/compensations/$id" params={{ id: c.id }}><Sums of={c} /></Link>{' '}
                <State tone={toneOfCompensation(c)}>{t.compensationStates[c.state]}</State>
              </li>
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

type Customer = Row<'/outages/{id}/customers'>

function Hit({ id }: { id: string }) {
  const t = useText(outagesText)
  const list = useRows('/outages/{id}/customers', {}, { path: { id } })
  const columns: Column<Customer>[] = [
    { id: 'customer', title: t.customer, cell: (c) => <CustomerLink of={c.subscriber} account /> },
  ]
  return <DataTable list={list} columns={columns} rowKey={(c) => c.subscriberId} label={t.hit} empty={<Empty title={t.nobodyHit} />} />
}

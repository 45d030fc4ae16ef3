import { Anchor, Badge, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { useFormat } from '../../text/format'
import { CopyText } from '../../ui/CopyText'
import { CustomerLink } from '../../ui/CustomerLink'
import { EventHistory } from '../../ui/EventHistory'
import { Facts } from '../../ui/Facts'
import { later } from '../../ui/later'
import { Section } from '../../ui/Page'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { DeviceState } from './DeviceState'
import { Operations } from './Operations'
import type { Device, WholeDevice } from './words'

const Optical = later(() => import('./Optical').then((m) => m.Optical), { height: 200 })

/** DeviceOverview shows how a device is, whose it is, what it is, and what was done with it last. */
export function DeviceOverview({ of: d }: { of: WholeDevice }) {
  const t = useText(devicesText)
  return (
    <Stack gap="lg">
      <Facts
        of={[
          [t.state, <span key="state" role="status"><DeviceState of={d} /></span>],
          [t.lastInform, d.lastInform ? <When key="last" at={d.lastInform} /> : t.never],
          [t.signIn, d.signIn && <SignIn key="sign-in" of={d.signIn} />],
          [t.customer, d.subscriber ? <CustomerLink key="customer" of={d.subscriber} account /> : t.noCustomer],
          [t.service, d.subscriptionId ? <Link key="service" to="/subscriptions/$id" params={{ id: d.subscriptionId }}>{t.openService}</Link> : null],
          [t.label, d.label],
          [t.location, d.location],
        ]}
      />
      <Health of={d} />
      {d.onu && <Optical id={d.id} of={d.onu} />}
      <Section
        title={t.lastOperations}
        actions={<Anchor size="sm" renderRoot={(props) => <Link {...props} to="/devices/$id" params={{ id: d.id }} search={{ view: 'operations' }} />}>{t.all}</Anchor>}
      >
        <Operations id={d.id} first={5} />
      </Section>
      <Section title={t.identity}>
        <Facts
          of={[
            [t.serial, <CopyText key="serial" text={d.serialNumber} />],
            [t.maker, d.manufacturer ?? t.unknown],
            [t.model, d.model ?? t.unknown],
            [t.firmware, d.firmwareVersion ? <To key="firmware" way={{ to: '/devices', search: { firmwareVersion: d.firmwareVersion } }}>{d.firmwareVersion}</To> : t.unknown],
            [t.productClass, d.productClass],
            [t.oui, d.oui],
            [t.firstSeen, <When key="seen" at={d.firstSeen} exact />],
            [t.claimedAt, <When key="claimed" at={d.claimedAt} exact />],
            [t.tags, d.tags.length === 0 ? null : (
              <Group key="tags" gap={4}>{d.tags.map((tag) => <Badge key={tag} variant="default" tt="none">{tag}</Badge>)}</Group>
            )],
          ]}
        />
        <EventHistory type="cpe" id={d.id} />
      </Section>
    </Stack>
  )
}

/** SignIn says whether the device shows its password to the CPE server, and whether somebody came without lately. */
function SignIn({ of: s }: { of: NonNullable<Device['signIn']> }) {
  const t = useText(devicesText)
  return (
    <>
      {s.required ? t.signInRequired : t.signInOpen}
      {s.refusedAt && <Text size="sm" c="red">{t.signInRefused} <When at={s.refusedAt} />. {t.signInRefusedDo}</Text>}
    </>
  )
}

/** Health is what the device said of itself at its last call. */
function Health({ of: d }: { of: Device }) {
  const t = useText(devicesText)
  const f = useFormat()
  const h = d.health
  const both = h !== null && h.bytesReceived !== null && h.bytesSent !== null
  return (
    <Section title={t.now}>
      {h === null ? <Text size="sm" c="dimmed">{t.nothingSaid}</Text> : (
        <Facts
          of={[
            [t.uptime, h.uptimeSeconds === null ? null : f.duration(h.uptimeSeconds)],
            [t.clients, h.wifiClients === null ? null : f.number(h.wifiClients)],
            [t.traffic, both ? `${t.trafficOf(f.bytes(h.bytesReceived ?? 0), f.bytes(h.bytesSent ?? 0))}, ${t.trafficHint}` : null],
            [t.memory, h.memoryFree === null ? null : h.memoryTotal === null ? f.bytes(h.memoryFree) : t.memoryOf(f.bytes(h.memoryFree), f.bytes(h.memoryTotal))],
            [t.cpu, h.cpuPercent === null ? null : f.percent(h.cpuPercent / 100)],
            [t.saidAt, <When key="at" at={h.at} />],
          ]}
        />
      )}
    </Section>
  )
}

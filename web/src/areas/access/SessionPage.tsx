import { Button, Group, Text } from '@mantine/core'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { useNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { sessionsText } from '../../text/sessions'
import { CopyText } from '../../ui/CopyText'
import { Facts } from '../../ui/Facts'
import { Unplug } from '../../ui/icons'
import { Loaded } from '../../ui/Loaded'
import { Page, Section } from '../../ui/Page'
import { RouterLink } from '../../ui/RouterLink'
import { When } from '../../ui/When'
import { later } from '../../ui/later'
import { Lasted, secondsOf, type Session, SessionState, Whose } from './SessionParts'

const Disconnect = later(() => import('./Disconnect').then((m) => m.Disconnect))

/** SessionPage answers: whose session was it, how did it go, and why did it end? */
export default function SessionPage() {
  const t = useText(sessionsText)
  const may = useMay()
  const { id } = useParams({ from: '/sessions/$id' })
  const read = api.useQuery('get', '/sessions/{id}', { params: { path: { id } } })
  const [ending, setEnding] = useState(false)
  const s = read.data
  // One that went silent, or that its router denied, may go on there: the router is asked.
  const endable = s && (!s.endedAt || s.endReason === 'lost' || s.endReason === 'gone')
  return (
    <Page
      title={s ? t.session(s.username || t.unnamed) : t.one}
      actions={endable && may('POST /sessions/{id}/disconnect') && (
        <Button variant="default" leftSection={<Unplug size={16} aria-hidden />} onClick={() => setEnding(true)}>
          {t.disconnect}
        </Button>
      )}
    >
      <Loaded read={read} height={360}>{(session) => <Told of={session} />}</Loaded>
      {ending && s && <Disconnect session={s} onClose={() => setEnding(false)} />}
    </Page>
  )
}

function Told({ of: s }: { of: Session }) {
  const t = useText(sessionsText)
  const f = useFormat()
  const ended = s.endReason ? t.ends[s.endReason] : undefined
  return (
    <>
      <Text component="div"><SessionState of={s} /></Text>
      {s.endReason && <Text size="sm">{ended?.[1] ?? s.endReason}</Text>}
      <Facts
        of={[
          [t.customer, <Whose key="whose" of={s} />],
          [t.router, <RouterLink key="router" id={s.deviceId} name={s.deviceName} />],
          [t.username, <CopyText key="username" text={s.username} />],
          [t.ip, s.addresses.length > 0 && <Addresses key="ip" of={s} />],
          [t.mac, s.macAddress && <CopyText key="mac" text={s.macAddress} />],
          [t.began, <When key="began" at={s.startedAt} exact />],
          [t.endedAt, s.endedAt && <When key="ended" at={s.endedAt} exact />],
          [t.lasted, <Lasted key="lasted" of={s} />],
          [t.lastReport, <When key="report" at={s.updatedAt} />],
          [t.access, s.access && (t.accesses[s.access] ?? s.access)],
          [t.rate, s.rate && t.rates(f.rate(s.rate.down), f.rate(s.rate.up))],
        ]}
      />
      <Traffic of={s} />
      <Group gap="lg" fz="sm">
        {s.subscriberId && (
          <Link to="/sessions" search={{ subscriberId: s.subscriberId }}>{t.others}</Link>
        )}
        {s.username && <Link to="/sessions" search={{ username: s.username }}>{t.sameUsername}</Link>}
      </Group>
    </>
  )
}

/** Addresses lists what the session had: one alone without its times, which are those of the session. */
function Addresses({ of: s }: { of: Session }) {
  return (
    <>
      {s.addresses.map((a) => (
        <div key={`${a.address} ${a.from}`}>
          <CopyText text={a.address} />
          {s.addresses.length > 1 && (
            <Text span size="sm" c="dimmed"> <When at={a.from} exact /> – {a.until && <When at={a.until} exact />}</Text>
          )}
        </div>
      ))}
    </>
  )
}

function Traffic({ of: s }: { of: Session }) {
  const t = useText(sessionsText)
  const f = useFormat()
  const now = useNow()
  const until = s.endedAt ? Date.parse(s.endedAt) : Math.min(now, Date.parse(s.updatedAt))
  const seconds = Math.max(1, secondsOf({ ...s, endedAt: new Date(until).toISOString() }, until))
  const average = (bytes: number) => f.rate(Math.round((bytes * 8) / 1000 / seconds))
  return (
    <Section title={t.traffic}>
      <Facts
        of={[
          [t.down, f.bytes(s.bytesIn)],
          [t.up, f.bytes(s.bytesOut)],
          [t.average, t.rates(average(s.bytesIn), average(s.bytesOut))],
        ]}
      />
    </Section>
  )
}

import { SimpleGrid, Stack, Text } from '@mantine/core'
import { useCallback, useMemo } from 'react'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { networkText } from '../../text/network'
import type { Series } from '../../ui/Chart'
import { CopyText } from '../../ui/CopyText'
import { EventHistory } from '../../ui/EventHistory'
import { Facts } from '../../ui/Facts'
import { later } from '../../ui/later'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { RouterLink } from '../../ui/RouterLink'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { Live } from './Live'
import { useAsked } from './useAsked'
import type { Device } from './words'

const Chart = later(() => import('../../ui/Chart').then((m) => m.Chart), { height: 232 })

/** OverviewPart shows the load now, the last day, and the addresses by which a router is known. */
export function OverviewPart({ of: d }: { of: Device }) {
  const t = useText(networkText)
  const f = useFormat()
  const params = { params: { path: { id: d.id } } }
  const load = useAsked(d.id, api.useQuery('get', '/nas/devices/{id}/resource', params, { retry: false }))
  const polls = api.useQuery('get', '/nas/devices/{id}/polls', params)
  return (
    <Stack gap="lg">
      <Live title={t.load} read={load} height={56}>
        {(r) => (
          <Facts
            of={[
              [t.cpu, f.percent(r.cpuPercent / 100)],
              [t.memory, `${f.percent(r.memoryPercent / 100)} · ${t.memoryOf(f.bytes(r.freeMemory), f.bytes(r.totalMemory))}`],
              [t.uptime, f.duration(r.uptimeSeconds)],
              [t.board, `${r.boardName} (${r.architecture})`],
              [t.version, r.version],
            ]}
          />
        )}
      </Live>
      <Section title={t.lastDay}>
        <Loaded read={polls} height={264}>{({ data }) => <Day polls={data} />}</Loaded>
      </Section>
      <Section title={t.placed}>
        <Facts of={[[t.upstream, d.upstreamId ? <RouterLink key="upstream" id={d.upstreamId} name={d.upstreamName} /> : t.noUpstream]]} />
        <Text size="sm"><To way={{ to: '/outages', search: { deviceId: d.id } }}>{t.itsOutages}</To></Text>
      </Section>
      <Section title={t.addresses}>
        <Facts
          of={[
            [t.wan, <CopyText key="wan" text={d.ipAddress} />],
            [t.tunnel, <CopyText key="tunnel" text={d.tunnelAddress} />],
            [t.tunnelUser, <CopyText key="user" text={d.tunnelUser} />],
            [t.spoken, d.transport && `${t.protocols[d.transport.protocol] ?? d.transport.protocol}, ${d.transport.port}, ${d.transport.tls ? t.encrypted : t.plain}`],
            [t.registered, <When key="since" at={d.createdAt} exact />],
          ]}
        />
        <EventHistory type="device" id={d.id} />
      </Section>
    </Stack>
  )
}

function Day({ polls }: { polls: Shape<'PollShape'>[] }) {
  const t = useText(networkText)
  const f = useFormat()
  const times = useMemo(() => polls.map((p) => Date.parse(p.at)), [polls])
  const { sessions, load } = useMemo(() => {
    const line = (label: string, color: string, of: (p: Shape<'PollShape'>) => number | null): Series => ({
      label, color, values: polls.map(of),
    })
    return {
      sessions: [line(t.sessions, 'var(--chart-1)', (p) => p.activeSessions)],
      load: [line(t.cpu, 'var(--chart-2)', (p) => p.cpuPercent), line(t.memory, 'var(--chart-3)', (p) => p.memoryPercent)],
    }
  }, [polls, t])
  const number = useCallback((n: number) => f.number(Math.round(n * 10) / 10), [f])
  const percent = useCallback((n: number) => f.percent(n / 100), [f])
  const silences = polls.filter((p) => !p.reachable).length
  if (polls.length === 0) return <Text size="sm" c="dimmed">{t.noPolls}</Text>
  return (
    <Stack gap={4}>
      <SimpleGrid cols={{ base: 1, md: 2 }} mih={232}>
        <Chart times={times} series={sessions} write={number} label={t.sessions} />
        <Chart times={times} series={load} write={percent} label={t.cpuAndMemory} />
      </SimpleGrid>
      {silences > 0 && <Text size="sm" c="var(--tone-bad)">{t.silences(silences)}</Text>}
    </Stack>
  )
}

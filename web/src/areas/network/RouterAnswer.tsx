import { Button, Group, List, Paper, Stack, Text } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client'
import { serverNow } from '../../app/clock'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { networkText } from '../../text/network'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { type Compared, type Finding, findingsOf, type Known } from './answer'
import { Ping } from './Ping'
import type { Device } from './words'

/** RouterAnswer says in one sentence whether a router is well, and has the one button that helps. */
export function RouterAnswer({ of: device }: { of: Device }) {
  const t = useText(networkText)
  const may = useMay()
  const params = { params: { path: { id: device.id } } }
  const services = api.useQuery('get', '/nas/devices/{id}/services', { params: { ...params.params, query: { limit: 100 } } })
  const refusals = api.useQuery('get', '/nas/devices/{id}/refusals', params)
  const breakers = api.useQuery('get', '/platform/breakers', {}, {
    enabled: may('GET /platform/breakers') && device.unreachableSince !== null,
  })
  const compared = useCompared(device.id)
  const breaker = breakers.data?.data.find((b) => b.kind === 'device' && b.target === device.id && b.state !== 'closed')
  const [first, ...others] = findingsOf({ device, services: services.data?.data, refusals: refusals.data?.data, compared, now: serverNow() })
  const answered = device.poll?.reachable ? device.poll : null
  if (!first) return null
  return (
    <Paper withBorder p="md" className="answer" data-tone={first.tone} component="section" aria-live="polite">
      <Group justify="space-between" align="flex-start" gap="sm" mih={56}>
        <Stack gap={4} flex={1} miw={240}>
          <Sentence of={first} device={device} main />
          {first.words && <Text size="sm" className="sentence">{first.words}</Text>}
          {breaker && (
            <Text size="sm">{t.refused} {breaker.retryAt && <>{t.nextTry} <When at={breaker.retryAt} />.</>}</Text>
          )}
          {answered && <Text size="sm" c="dimmed">{t.lastSeen}: <When at={answered.at} /></Text>}
        </Stack>
        <StepButton of={first} id={device.id} />
      </Group>
      {others.length > 0 && (
        <Stack gap={4} mt="sm">
          <Text size="xs" c="dimmed">{t.also}</Text>
          <List listStyleType="none" spacing={4}>
            {others.map((o) => (
              <List.Item key={o.code} styles={{ itemWrapper: { display: 'block' }, itemLabel: { display: 'block' } }}>
                <Group justify="space-between" gap="sm">
                  <Stack gap={0} flex={1} miw={240}>
                    <Sentence of={o} device={device} />
                    {o.words && <Text size="sm" c="dimmed" className="sentence">{o.words}</Text>}
                  </Stack>
                  <StepButton of={o} id={device.id} quiet />
                </Group>
              </List.Item>
            ))}
          </List>
        </Stack>
      )}
    </Paper>
  )
}

/** useCompared gives what the part "Differences" has read, when it was open; it reads nothing itself. */
function useCompared(id: string): Known['compared'] {
  const params = { params: { path: { id } } }
  const seen = { enabled: false }
  const services = api.useQuery('get', '/nas/devices/{id}/drift', params, seen)
  const firewall = api.useQuery('get', '/nas/devices/{id}/firewall', params, seen)
  const setup = api.useQuery('get', '/nas/devices/{id}/setup', params, seen)
  const ahead = serverNow() - Date.now()
  const of = (read: typeof services): Compared | undefined => {
    return read.data && !read.error ? { at: read.dataUpdatedAt + ahead, differing: read.data.resources.length } : undefined
  }
  return { services: of(services), firewall: of(firewall), setup: of(setup) }
}

function Sentence({ of: finding, device, main }: { of: Finding; device: Device; main?: boolean }) {
  const t = useText(networkText)
  const f = useFormat()
  const says = t.says[finding.code]
  const said = typeof says === 'string' ? says
    : finding.code === 'down' ? t.says.down(device.unreachableSince ? f.short(device.unreachableSince) : '')
      : (says as (n: number) => string)(finding.count)
  return (
    <Text component="div" size={main ? 'md' : 'sm'} fw={main ? 600 : undefined} className="sentence">
      <State tone={finding.tone}>{null}</State> <span>{said}</span>
    </Text>
  )
}

/** StepButton does what helps, or leads to where it is done. */
function StepButton({ of, id, quiet }: { of: Finding; id: string; quiet?: boolean }) {
  const t = useText(networkText)
  const look = { variant: quiet ? 'default' : 'filled', size: quiet ? 'xs' : 'sm' }
  const { view: open } = useSearch({ from: '/routers/$id' })
  if (!of.step || of.step === open || (of.step === 'addService' && open === 'services')) return null
  if (of.step === 'ping') return <Ping id={id} {...look} label={t.steps.ping} />
  if (of.step === 'addService') {
    return (
      <Button {...look} renderRoot={(p) => <Link {...p} to="/routers/$id/services/new" params={{ id }} />}>{t.steps.addService}</Button>
    )
  }
  const view = of.step
  return (
    <Button {...look} renderRoot={(p) => <Link {...p} to="/routers/$id" params={{ id }} search={{ view }} />}>{t.steps[view]}</Button>
  )
}

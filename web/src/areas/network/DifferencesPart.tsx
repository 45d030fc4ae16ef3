import { Stack, Text } from '@mantine/core'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { routerSetupText } from '../../text/routerSetup'
import type { Read } from '../../ui/Loaded'
import { Difference } from './Difference'
import { Live } from './Live'
import { Repair, type RepairKind } from './Repair'
import { useAsked } from './useAsked'
import type { Difference as Diff } from './words'

/** DifferencesPart compares services, firewall and setup of a router with what they should be, each with its repair. */
export function DifferencesPart({ id }: { id: string }) {
  const t = useText(routerSetupText)
  const params = { params: { path: { id } } }
  const services = api.useQuery('get', '/nas/devices/{id}/drift', params, { retry: false })
  const firewall = api.useQuery('get', '/nas/devices/{id}/firewall', params, { retry: false })
  const setup = api.useQuery('get', '/nas/devices/{id}/setup', params, { retry: false })
  return (
    <Stack gap="lg">
      <Part id={id} kind="device" title={t.services} hint={t.servicesHint} read={services} />
      <Part id={id} kind="firewall" title={t.firewall} hint={t.firewallHint} read={firewall} />
      <Part id={id} kind="setup" title={t.setup} hint={t.setupHint} read={setup} />
    </Stack>
  )
}

function Part({ id, kind, title, hint, read }: {
  id: string
  kind: RepairKind
  title: string
  hint: string
  read: Read<Diff> & { isFetching: boolean; dataUpdatedAt: number }
}) {
  const t = useText(routerSetupText)
  return (
    <Live title={title} hint={hint} read={useAsked(id, read)} height={60}>
      {(diff) => (
        <Stack gap="sm">
          {!diff.inSync && <Text size="sm" fw={500}>{t.places(diff.resources.length)}</Text>}
          <Difference resources={diff.resources} />
          <Repair id={id} kind={kind} of={diff} />
        </Stack>
      )}
    </Live>
  )
}

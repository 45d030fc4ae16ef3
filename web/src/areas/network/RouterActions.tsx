import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { networkText } from '../../text/network'
import { Confirm } from '../../ui/Confirm'
import { Power } from '../../ui/icons'
import { Ping } from './Ping'
import type { Device } from './words'

/** RouterActions is what can be done with a router as a whole. */
export function RouterActions({ of: device }: { of: Device }) {
  const t = useText(networkText)
  const may = useMay()
  const [reboots, setReboots] = useState(false)
  return (
    <Group gap="xs" align="flex-start">
      <Ping id={device.id} label={t.ping} />
      {may('POST /nas/devices/{id}/reboot') && (
        <Button variant="default" leftSection={<Power size={14} aria-hidden />} onClick={() => setReboots(true)}>{t.reboot}</Button>
      )}
      {reboots && <Reboot of={device} onClose={() => setReboots(false)} />}
    </Group>
  )
}

// What RouterOS says to a user whose group lacks the policy.
const denied = /not enough permissions/

/** Reboot says before how many sessions it disconnects, as the router itself counts them now. */
function Reboot({ of: device, onClose }: { of: Device; onClose: () => void }) {
  const t = useText(networkText)
  const path = { id: device.id }
  const online = api.useQuery('get', '/nas/devices/{id}/sessions', { params: { path, query: { limit: 100 } } }, {
    retry: false, staleTime: 0, gcTime: 0, // who was online when it was asked before says nothing of now
  })
  const write = useWrite('post', '/nas/devices/{id}/reboot', { told: () => t.rebooting, then: onClose })
  const listed = online.data?.data.length ?? 0
  return (
    <Confirm
      title={t.rebootTitle(device.name)}
      verb={t.reboot}
      danger
      incomplete={online.isPending}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path } })}
      onClose={onClose}
    >
      <Text size="sm" mih={40}>
        {online.isPending ? t.rebootCounts : !online.data || online.error ? t.rebootDoesUnknown
          : online.data.hasMore ? t.rebootDoesMany(listed) : t.rebootDoes(listed)}
      </Text>
      {denied.test(write.error?.message ?? '') && <Text size="sm" fw={500}>{t.rebootDenied}</Text>}
    </Confirm>
  )
}

import { Button, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRows } from '../../api/rows'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { devicesText } from '../../text/devices'
import { later } from '../../ui/later'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { To } from '../../ui/To'
import { When } from '../../ui/When'
import { DeviceState } from './DeviceState'
import { kindName } from './words'

const WifiDialog = later(() => import('./WifiDialog').then((m) => m.WifiDialog))

/** CustomerDevices lists the devices in a customer's home, with the change of the Wi-Fi that customers ask for most. */
export function CustomerDevices({ id }: { id: string }) {
  const t = useText(devicesText)
  const may = useMay()
  const list = useRows('/cpe/devices', { subscriberId: id })
  const [changes, setChanges] = useState<string | null>(null)
  return (
    <Section title={t.mine} actions={list.rows.length > 0 && <Text size="sm"><To way={{ to: '/devices', search: { subscriberId: id } }}>{t.all}</To></Text>}>
      {list.error && list.rows.length === 0 ? <ProblemNote of={list.error} retry={list.refetch} /> : null}
      {!list.isPending && !list.error && list.rows.length === 0 && <Text size="sm" c="dimmed">{t.noneOfCustomer}</Text>}
      <Stack component="ul" gap={6} m={0} p={0} style={{ listStyle: 'none' }}>
        {list.rows.map((d) => (
          <Group component="li" key={d.id} gap="xs" justify="space-between">
            <Text size="sm" component="span">
              <Link to="/devices/$id" params={{ id: d.id }} className="figure">{d.serialNumber}</Link>{' '}
              <Text span inherit c="dimmed">{[d.label, kindName(d)].filter(Boolean).join(', ')}</Text>
            </Text>
            <Group gap="xs">
              <DeviceState of={d} />
              <Text size="sm" c="dimmed" component="span"><When at={d.lastInform} /></Text>
              {may('POST /cpe/devices/{id}/wifi') && (
                <Button size="compact-sm" variant="default" aria-label={t.wifiOf(d.serialNumber)} onClick={() => setChanges(d.id)}>{t.wifi}</Button>
              )}
            </Group>
          </Group>
        ))}
      </Stack>
      {changes && <WifiDialog id={changes} onClose={() => setChanges(null)} />}
    </Section>
  )
}

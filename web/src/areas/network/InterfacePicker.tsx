import { Group, Radio, Stack, Text } from '@mantine/core'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useText } from '../../text/catalogue'
import { networkText } from '../../text/network'
import { useObstacles } from '../../text/obstacles'
import { servicesText } from '../../text/services'
import { Loaded } from '../../ui/Loaded'
import { ReadAgain } from './Live'
import { useAsked } from './useAsked'

/** InterfacePicker offers the interfaces of a router as it has them now; what is reserved is shown with its reason. */
export function InterfacePicker({ device, value, own, error, onChange }: {
  device: string
  value: string
  /** own is the interface that the service has already: it is reserved by the service itself. */
  own?: string
  error?: string
  onChange: (name: string) => void
}) {
  const t = useText(servicesText)
  const read = useAsked(
    device, api.useQuery('get', '/nas/devices/{id}/interfaces', { params: { path: { id: device } } }, { retry: false }),
  )
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-start">
        <Stack gap={0} flex={1} miw={200}>
          <Text size="sm" fw={500} id="where">{t.interface}</Text>
          <Text size="xs" c="dimmed">{t.interfaceHint}</Text>
        </Stack>
        <ReadAgain busy={read.isFetching || read.asking} onClick={() => void read.refetch()} />
      </Group>
      <Loaded read={read} height={260}>
        {({ groups }) => {
          const usable = (o: Shape<'InterfaceOption'>) => !o.reserved || o.name === own
          const filled = groups.filter((g) => g.options.length > 0)
          return (
            <Radio.Group value={value} onChange={onChange} error={error} aria-labelledby="where">
              <Stack gap="sm">
                {!filled.some((g) => g.options.some(usable)) && <Text size="sm" c="var(--tone-attention)">{t.noFree}</Text>}
                {filled.map((g) => <Options key={g.name} of={g} usable={usable} />)}
              </Stack>
            </Radio.Group>
          )
        }}
      </Loaded>
    </Stack>
  )
}

function Options({ of: group, usable }: {
  of: Shape<'InterfaceGroup'>
  usable: (o: Shape<'InterfaceOption'>) => boolean
}) {
  const words = useText(networkText)
  const obstacles = useObstacles()
  const says = (o: Shape<'InterfaceOption'>) => {
    if (!usable(o)) return `${words.reserved}: ${obstacles.reserved(o)}`
    const link = o.disabled ? words.linkOff : o.running ? words.linkUp : words.linkDown
    return [o.comment, obstacles.warns(o) || link].filter(Boolean).join(' · ')
  }
  const name = words.groups[group.name] ?? group.name
  return (
    <div role="group" aria-label={name}>
      <Text size="xs" c="dimmed" mb={4}>{name}</Text>
      <Stack gap={6}>
        {group.options.map((o) => (
          <Radio key={o.name} value={o.name} label={o.name} description={says(o)} disabled={!usable(o) || o.disabled} />
        ))}
      </Stack>
    </div>
  )
}

import { Radio, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { servicesText } from '../../text/services'
import { InterfacePicker } from './InterfacePicker'
import { hasGarden, type TypedService } from './serviceForm'
import type { Service } from './words'
import { NumberField } from '../../ui/NumberField'

const types: Service['type'][] = ['pppoe', 'hotspot', 'cpe-management']

/** ServiceFields are the fields of a service, for a new one and for a change. */
export function ServiceFields({ device, value, own, problem, onChange }: {
  device: string
  value: TypedService
  /** own is the interface that the service has already. */
  own?: string
  problem: Problem | null
  onChange: (value: TypedService) => void
}) {
  const t = useText(servicesText)
  const address = (field: 'subnet' | 'gateway' | 'poolStart' | 'poolEnd', hint?: string) => ({
    label: t[field],
    placeholder: hint,
    value: value[field],
    onChange: (e: { currentTarget: { value: string } }) => onChange({ ...value, [field]: e.currentTarget.value }),
    error: problem?.of(field),
    autoComplete: 'off',
    maxLength: 50,
  })
  return (
    <Stack gap="lg">
      <Radio.Group
        label={t.type}
        value={value.type}
        onChange={(type) => onChange({ ...value, type: type as Service['type'] })}
        error={problem?.of('type')}
      >
        <Stack gap={6} mt={6}>
          {types.map((type) => <Radio key={type} value={type} label={t.types[type]} description={t.typeHints[type]} />)}
        </Stack>
      </Radio.Group>
      <InterfacePicker
        device={device}
        value={value.parentInterface}
        own={own}
        error={problem?.of('parentInterface')}
        onChange={(parentInterface) => onChange({ ...value, parentInterface })}
      />
      <NumberField
        label={t.vlanId}
        description={t.vlanHint}
        value={value.vlanId}
        onChange={(n) => onChange({ ...value, vlanId: typeof n === 'number' ? n : '' })}
        error={problem?.of('vlanId')}
        min={1}
        max={4094}
        whole
        hideControls
        maw={240}
      />
      <Stack gap={4}>
        <Text size="sm" fw={500}>{t.addresses}</Text>
        <Text size="xs" c="dimmed">{t.addressesHint}</Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <TextInput {...address('subnet', t.subnetHint)} />
          <TextInput {...address('gateway')} />
          <TextInput {...address('poolStart')} />
          <TextInput {...address('poolEnd')} />
        </SimpleGrid>
      </Stack>
      {hasGarden(value.type) && (
        <Stack gap={4}>
          <Text size="sm" fw={500}>{t.garden}</Text>
          <Text size="xs" c="dimmed">{t.gardenHint}</Text>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <Textarea
              label={t.domains}
              description={t.domainsHint}
              value={value.domains}
              onChange={(e) => onChange({ ...value, domains: e.currentTarget.value })}
              error={problem?.of('walledGarden.domains') ?? problem?.of('walledGarden')}
              autosize
              minRows={2}
              maxRows={8}
            />
            <Textarea
              label={t.gardenAddresses}
              description={t.gardenAddressesHint}
              value={value.addresses}
              onChange={(e) => onChange({ ...value, addresses: e.currentTarget.value })}
              error={problem?.of('walledGarden.addresses')}
              autosize
              minRows={2}
              maxRows={8}
            />
          </SimpleGrid>
        </Stack>
      )}
    </Stack>
  )
}

import { Button, Checkbox, Collapse, Group, PasswordInput, SimpleGrid, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { routerSetupText } from '../../text/routerSetup'
import { ChevronDown, ChevronRight } from '../../ui/icons'
import { NumberField } from '../../ui/NumberField'
import { RouterField } from '../../ui/RouterField'
import { newSecret, type TypedRouter } from './routerForm'

/** RouterFields are the fields of a router, for its registration and its settings. */
export function RouterFields({ value, onChange, problem, known, id }: {
  value: TypedRouter
  onChange: (value: TypedRouter) => void
  problem: Problem | null
  /** known routers keep the secrets that are not typed. */
  known?: boolean
  /** id is that of the router itself, which cannot stand behind itself. */
  id?: string
}) {
  const t = useText(routerSetupText)
  const rare = ['apiPort', 'coaPort', 'apiUsername', 'apiPassword', 'managementAddress', 'requireMessageAuthenticator'] as const
  const [more, { toggle }] = useDisclosure(known)
  const open = more || rare.some((field) => problem?.of(field))
  const text = (field: 'name' | 'ipAddress' | 'apiUsername' | 'managementAddress', hint: string) => ({
    label: t[field],
    description: hint,
    value: value[field],
    onChange: (e: { currentTarget: { value: string } }) => onChange({ ...value, [field]: e.currentTarget.value }),
    error: problem?.of(field),
    autoComplete: 'off',
    maxLength: 200,
  })
  const port = (field: 'apiPort' | 'coaPort', hint: string, usual: number) => ({
    label: t[field],
    description: hint,
    value: value[field],
    onChange: (n: string | number) => onChange({ ...value, [field]: typeof n === 'number' ? n : '' }),
    error: problem?.of(field),
    placeholder: String(usual),
    min: 1,
    max: 65_535,
    whole: true,
    hideControls: true,
  })
  return (
    <Stack gap="sm">
      <TextInput {...text('name', t.nameHint)} required withAsterisk={false} />
      <TextInput {...text('ipAddress', t.ipAddressHint)} required withAsterisk={false} inputMode="decimal" />
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <PasswordInput
          flex={1}
          label={t.radiusSecret}
          description={known ? t.secretStays : t.radiusSecretHint}
          value={value.radiusSecret}
          onChange={(e) => onChange({ ...value, radiusSecret: e.currentTarget.value })}
          error={problem?.of('radiusSecret')}
          autoComplete="new-password"
          required={!known}
          withAsterisk={false}
          maxLength={128}
        />
        <Button variant="default" h={36} onClick={() => onChange({ ...value, radiusSecret: newSecret() })}>{t.makeSecret}</Button>
      </Group>
      <RouterField
        label={t.upstream}
        description={t.upstreamHint}
        value={value.upstreamId || null}
        error={problem?.of('upstreamId')}
        without={id}
        onChange={(upstream) => onChange({ ...value, upstreamId: upstream ?? '' })}
      />
      <UnstyledButton onClick={toggle} aria-expanded={open}>
        <Group gap={4}>
          {open ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
          <Text span size="sm" fw={500}>{t.more}</Text>
        </Group>
      </UnstyledButton>
      <Collapse in={open}>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">{t.moreHint}</Text>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <NumberField {...port('apiPort', t.apiPortHint, 80)} />
            <NumberField {...port('coaPort', t.coaPortHint, 3799)} />
            <TextInput {...text('apiUsername', known ? t.apiStays : t.apiUsernameHint)} />
            <PasswordInput
              label={t.apiPassword}
              description={known ? t.apiStays : ''}
              value={value.apiPassword}
              onChange={(e) => onChange({ ...value, apiPassword: e.currentTarget.value })}
              error={problem?.of('apiPassword')}
              autoComplete="new-password"
              maxLength={128}
            />
          </SimpleGrid>
          <TextInput {...text('managementAddress', t.managementAddressHint)} />
          <Checkbox
            label={t.requireMessageAuthenticator}
            description={t.requireMessageAuthenticatorHint}
            checked={value.requireMessageAuthenticator}
            onChange={(e) => onChange({ ...value, requireMessageAuthenticator: e.currentTarget.checked })}
            error={problem?.of('requireMessageAuthenticator')}
          />
        </Stack>
      </Collapse>
    </Stack>
  )
}

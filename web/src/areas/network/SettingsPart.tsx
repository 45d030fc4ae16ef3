import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useVersioned, type Versioned } from '../../api/versioned'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { routerSetupText } from '../../text/routerSetup'
import { uiText } from '../../text/ui'
import { Confirm } from '../../ui/Confirm'
import { EditedNote, unsaid } from '../../ui/EditedNote'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { useEdited } from '../../ui/useEdited'
import { corrected, routerSecrets, typedOf } from './routerForm'
import { RouterFields } from './RouterFields'
import type { Device } from './words'

/** SettingsPart changes what the platform knows of a router, and has what cannot be undone below. */
export function SettingsPart({ id }: { id: string }) {
  const read = useVersioned('/nas/devices/{id}', { params: { path: { id } } })
  return (
    <Loaded read={read} height={480}>
      {(device) => (
        <Stack gap="xl" maw={640}>
          <Settings device={device} reread={() => void read.refetch()} />
          <Danger of={device.value} />
        </Stack>
      )}
    </Loaded>
  )
}

function Settings({ device, reread }: { device: Versioned<Device>; reread: () => void }) {
  const t = useText(routerSetupText)
  const words = useText(uiText)
  const may = useMay()
  const write = useWrite('patch', '/nas/devices/{id}', { told: () => t.saved, shown: () => edited.undo() })
  // What the platform itself notes at a router, such as its silence, is no change of its settings.
  const edited = useEdited(device, typedOf, write.isPending, routerSecrets)
  const body = corrected(typedOf(device.value), edited.values)
  const changed = Object.keys(body).length > 0
  if (!may('PATCH /nas/devices/{id}')) return null
  return (
    <Form
      busy={write.isPending}
      onSubmit={() => {
        if (changed && !edited.meanwhile) {
          write.mutate({ params: { path: { id: device.value.id } }, body, headers: edited.headers })
        }
      }}
    >
      <Stack gap="md">
        <RouterFields value={edited.values} onChange={edited.set} problem={write.error} known id={device.value.id} />
        <EditedNote
          edited={edited}
          names={{
            name: t.name, ipAddress: t.ipAddress, radiusSecret: [t.radiusSecret, unsaid], apiPort: t.apiPort, coaPort: t.coaPort,
            apiUsername: t.apiUsername, apiPassword: [t.apiPassword, unsaid], managementAddress: t.managementAddress,
            requireMessageAuthenticator: [t.requireMessageAuthenticator, (on) => (on ? words.yes : words.no)],
            upstreamId: [t.upstream, unsaid],
            secretsVersion: null,
          }}
          error={write.error}
          onTake={() => {
            write.reset()
            reread()
          }}
        />
        <Group>
          <Button type="submit" size="sm" loading={write.isPending} disabled={!changed || edited.meanwhile}>{t.save}</Button>
          {!changed && <Text size="sm" c="dimmed">{t.nothingChanged}</Text>}
        </Group>
      </Stack>
    </Form>
  )
}

function Danger({ of: d }: { of: Device }) {
  const t = useText(routerSetupText)
  const may = useMay()
  const navigate = useNavigate()
  const [asks, setAsks] = useState<'rotate' | 'remove' | null>(null)
  const params = { params: { path: { id: d.id } } }
  const rotate = useWrite('post', '/nas/devices/{id}/rotate-secrets', {
    told: () => t.rotated,
    then: () => void navigate({ to: '/routers/$id', params: { id: d.id }, search: { view: 'script' } }),
  })
  const remove = useWrite('delete', '/nas/devices/{id}', {
    told: () => t.removed(d.name),
    then: () => void navigate({ to: '/routers' }),
  })
  const close = () => setAsks(null)
  return (
    <Section title={t.danger}>
      {may('POST /nas/devices/{id}/rotate-secrets') && (
        <Group justify="space-between" align="flex-start">
          <Text size="sm" flex={1} miw={240}>{t.rotateHint}</Text>
          <Button variant="default" onClick={() => setAsks('rotate')}>{t.rotate}</Button>
        </Group>
      )}
      {may('DELETE /nas/devices/{id}') && (
        <Group justify="space-between" align="flex-start">
          <Text size="sm" flex={1} miw={240}>{t.removeHint}</Text>
          <Button variant="light" color="red" onClick={() => setAsks('remove')}>{t.remove}</Button>
        </Group>
      )}
      {asks === 'rotate' && (
        <Confirm
          title={t.rotate}
          verb={t.rotate}
          danger
          pending={rotate.isPending}
          error={rotate.error}
          onConfirm={() => rotate.mutate(params)}
          onClose={close}
        >
          {t.rotateDoes}
        </Confirm>
      )}
      {asks === 'remove' && (
        <Confirm
          title={t.remove}
          verb={t.remove}
          danger
          typed={d.name}
          pending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(params)}
          onClose={close}
        >
          {t.removeDoes}
        </Confirm>
      )}
    </Section>
  )
}

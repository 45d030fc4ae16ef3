import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { routerSetupText } from '../../text/routerSetup'
import { Confirm } from '../../ui/Confirm'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { Meanwhile } from './Meanwhile'
import { corrected, typedOf } from './routerForm'
import { RouterFields } from './RouterFields'
import { matching, useDeviceVersion, type Version } from './version'
import type { Device } from './words'

/** SettingsPart changes what the platform knows of a router, and has what cannot be undone below. */
export function SettingsPart({ id }: { id: string }) {
  const read = useDeviceVersion(id)
  const [took, setTook] = useState(0)
  return (
    <Loaded read={read} height={480}>
      {(now) => (
        <Stack gap="xl" maw={640}>
          <Settings key={took} now={now} onTake={() => setTook((n) => n + 1)} />
          <Danger of={now.of} />
        </Stack>
      )}
    </Loaded>
  )
}

function Settings({ now, onTake }: { now: Version<Device>; onTake: () => void }) {
  const t = useText(routerSetupText)
  const may = useMay()
  const [before] = useState(() => typedOf(now.of))
  const [typed, setTyped] = useState(before)
  const write = useWrite('patch', '/nas/devices/{id}', { told: () => t.saved, shown: onTake })
  const body = corrected(before, typed)
  // What the platform itself notes at a router, such as its silence, is no change of its settings.
  const meanwhile = JSON.stringify(typedOf(now.of)) !== JSON.stringify(before) && !write.isPending && !write.isSuccess
  const changed = Object.keys(body).length > 0
  if (!may('PATCH /nas/devices/{id}')) return null
  return (
    <Form
      busy={write.isPending}
      onSubmit={() => {
        if (changed && !meanwhile) {
          write.mutate({ params: { path: { id: now.of.id } }, body, ...matching(now.tag) })
        }
      }}
    >
      <Stack gap="md">
        {meanwhile && <Meanwhile onTake={onTake} />}
        <RouterFields value={typed} onChange={setTyped} problem={write.error} known />
        {write.error && <ProblemNote of={write.error} />}
        <Group>
          <Button type="submit" size="sm" loading={write.isPending} disabled={!changed || meanwhile}>{t.save}</Button>
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

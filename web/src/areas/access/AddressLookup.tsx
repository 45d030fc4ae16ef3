import { Button, Group, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { instantOf, localOf } from '../../text/instant'
import { sessionsText } from '../../text/sessions'
import { uiText } from '../../text/ui'
import { Form } from '../../ui/Form'

/** AddressLookup asks who had an address at an instant, as the police or an abuse desk does. */
export function AddressLookup({ ip, at, onLook, onClose }: {
  ip: string | undefined
  at: string | undefined
  onLook: (asked: { ip: string; at: string }) => void
  onClose: () => void
}) {
  const t = useText(sessionsText)
  const words = useText(uiText)
  const { zone: { timezone } } = useFormat()
  const [address, setAddress] = useState(ip ?? '')
  const [when, setWhen] = useState(() => localOf(at ? Date.parse(at) : serverNow(), timezone))
  return (
    <Form onSubmit={() => onLook({ ip: address.trim(), at: instantOf(when, timezone).toISOString() })}>
      <Group gap="xs" align="end">
        <TextInput
          label={t.ip}
          value={address}
          onChange={(e) => setAddress(e.currentTarget.value)}
          maxLength={45}
          w={180}
          required
          withAsterisk={false}
          autoFocus={!ip}
        />
        <TextInput
          type="datetime-local"
          label={`${t.at} (${timezone})`}
          value={when}
          onChange={(e) => setWhen(e.currentTarget.value)}
          required
          withAsterisk={false}
        />
        <Button type="submit">{t.look}</Button>
        <Button variant="default" onClick={onClose}>{words.close}</Button>
        <Text size="xs" c="dimmed" pb={8}>{t.whoHadHint}</Text>
      </Group>
    </Form>
  )
}

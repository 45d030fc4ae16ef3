import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { portalText } from '../../text/portal'
import { subscribersText } from '../../text/subscribers'
import { CopyText } from '../../ui/CopyText'
import { FormDialog } from '../../ui/FormDialog'
import { When } from '../../ui/When'
import { addressTyped } from './portalAddress'
import { type Customer, nameOf } from './words'

/** PortalAccess lists the addresses that see a customer in the portal, and lets another one in. */
export function PortalAccess({ of: c, onClose }: { of: Customer; onClose: () => void }) {
  const t = useText(portalText)
  const words = useText(subscribersText)
  const of = { params: { path: { id: c.id } } }
  const read = api.useQuery('get', '/subscribers/{id}/portal-access', of)
  const [typed, setTyped] = useState<string>()
  const give = useWrite('post', '/subscribers/{id}/portal-access', { told: () => t.given, then: () => setTyped('') })
  const signIns = read.data?.signIns
  // The contact is the most probable address, unless it sees the customer already.
  const contact = signIns?.some((s) => s.phone === c.phone) ? '' : (c.phone ?? '')
  const address = typed ?? contact
  return (
    <FormDialog
      title={t.title(nameOf(c, words))}
      hint={t.hint}
      verb={t.give}
      ready={address.trim() !== '' && signIns !== undefined}
      pending={give.isPending}
      error={give.error?.of('phone') ?? give.error?.of('email') ? null : (give.error ?? read.error)}
      onSubmit={() => give.mutate({ ...of, body: addressTyped(address) })}
      onClose={onClose}
    >
      <Text size="sm">{t.at} <CopyText text={`${location.origin}/portal/`} /></Text>
      <Stack gap="xs">
        {signIns?.length === 0 && <Text size="sm">{t.nobody}</Text>}
        {signIns?.map((s) => <SignIn key={s.userId} id={c.id} of={s} />)}
      </Stack>
      <TextInput
        label={t.address} value={address} onChange={(e) => setTyped(e.currentTarget.value)} data-autofocus
        error={give.error?.of('phone') ?? give.error?.of('email')} disabled={signIns === undefined}
      />
    </FormDialog>
  )
}

function SignIn({ id, of: s }: {
  id: string
  of: { userId: string; email: string | null; phone: string | null; status: string; since: string; lastSignInAt: string | null }
}) {
  const t = useText(portalText)
  const address = s.email ?? s.phone ?? ''
  const end = useWrite('delete', '/subscribers/{id}/portal-access/{userId}', { told: () => t.ended(address) })
  return (
    <Group justify="space-between" wrap="nowrap">
      <div>
        <Text size="sm" fw={600}>{address}</Text>
        <Text size="sm" c="dimmed">
          {s.status === 'disabled' && <>{t.disabled}. </>}
          {s.lastSignInAt ? <>{t.signedIn} <When at={s.lastSignInAt} /></> : <>{t.since} <When at={s.since} />, {t.never}</>}
        </Text>
        {end.error && <Text size="sm" c="red" role="alert">{end.error.message}</Text>}
      </div>
      <Button
        variant="default" loading={end.isPending} aria-label={t.endOf(address)}
        onClick={() => end.mutate({ params: { path: { id, userId: s.userId } } })}
      >
        {t.end}
      </Button>
    </Group>
  )
}

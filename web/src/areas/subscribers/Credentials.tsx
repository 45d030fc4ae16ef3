import { Modal, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { subscribersText } from '../../text/subscribers'
import { uiText } from '../../text/ui'
import { CopyText } from '../../ui/CopyText'
import { Facts } from '../../ui/Facts'
import { FormDialog } from '../../ui/FormDialog'
import { Loaded } from '../../ui/Loaded'

interface Of {
  id: string
  plan: string
  onClose: () => void
}

/** Credentials shows the login of a service. It is read when it is asked for, and not kept: each look is audited. */
export function Credentials({ id, plan, onClose }: Of) {
  const t = useText(customerText)
  const words = useText(uiText)
  // The key is none of a path: nothing that changes on the page may look a second time.
  const read = useQuery({
    queryKey: ['credentials', id],
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: false, // a look that failed may be in the audit log all the same; another one is asked for
    queryFn: async ({ signal }) => (await client.GET('/subscriptions/{id}/credentials', { params: { path: { id } }, signal })).data!,
  })
  return (
    <Modal opened onClose={onClose} title={`${t.login}: ${plan}`} closeButtonProps={{ 'aria-label': words.close }}>
      <Stack gap="sm">
        <Loaded read={read} height={80}>{(login) => <Login of={login} />}</Loaded>
        <Text size="sm" c="dimmed">{t.credentialsHint}</Text>
      </Stack>
    </Modal>
  )
}

/** Login shows username and password, to copy. */
export function Login({ of: login }: { of: { username: string | null; password?: string | null } }) {
  const t = useText(subscribersText)
  return (
    <Facts
      of={[
        [t.username, login.username && <CopyText text={login.username} />],
        [t.password, login.password && <CopyText text={login.password} />],
      ]}
    />
  )
}

/** NewCredentials changes the login of a service; what is left empty stays. */
export function NewCredentials({ id, plan, onClose }: Of) {
  const t = useText(customerText)
  const words = useText(subscribersText)
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const write = useWrite('post', '/subscriptions/{id}/credentials', { told: () => t.changed, then: onClose })
  return (
    <FormDialog
      title={`${t.newCredentials}: ${plan}`}
      hint={t.credentialsChange}
      verb={t.save}
      ready={username.trim() + password !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id } },
        body: { ...(username.trim() ? { username: username.trim() } : {}), ...(password ? { password } : {}) },
      })}
      onClose={onClose}
    >
      <TextInput
        label={words.username} description={t.made} value={username} onChange={(e) => setUsername(e.currentTarget.value)}
        error={write.error?.of('username')} autoComplete="off" data-autofocus
      />
      <TextInput
        label={t.newPassword} description={t.made} value={password} onChange={(e) => setPassword(e.currentTarget.value)}
        error={write.error?.of('password')} autoComplete="off"
      />
    </FormDialog>
  )
}

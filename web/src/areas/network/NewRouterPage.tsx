import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { networkText } from '../../text/network'
import { routerSetupText } from '../../text/routerSetup'
import { Form } from '../../ui/Form'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { noRouter, registered } from './routerForm'
import { RouterFields } from './RouterFields'

/** NewRouterPage registers a router, and goes on to the script that connects it. */
export default function NewRouterPage() {
  const t = useText(routerSetupText)
  const words = useText(networkText)
  const navigate = useNavigate()
  const [typed, setTyped] = useState(noRouter)
  const write = useWrite('post', '/nas/devices', {
    told: () => t.registered(typed.name.trim()),
    then: (made) => void navigate({ to: '/routers/$id', params: { id: made.id }, search: { view: 'script' } }),
  })
  return (
    <Page title={words.register}>
      <Form busy={write.isPending} onSubmit={() => write.mutate({ body: registered(typed) })}>
        <Stack gap="md" maw={640}>
          <Text size="sm" c="dimmed">{t.whatItIs}</Text>
          <RouterFields value={typed} onChange={setTyped} problem={write.error} />
          {write.error && <ProblemNote of={write.error} />}
          <Group><Button type="submit" size="sm" loading={write.isPending}>{t.register}</Button></Group>
        </Stack>
      </Form>
    </Page>
  )
}

import { Button, Group, Stack } from '@mantine/core'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { isolated } from '../../text/isolated'
import { servicesText } from '../../text/services'
import { uiText } from '../../text/ui'
import { Form } from '../../ui/Form'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { noService, requested } from './serviceForm'
import { ServiceFields } from './ServiceFields'

/** NewServicePage gives a router a service, and goes on to the page that follows it until it works. */
export default function NewServicePage() {
  const t = useText(servicesText)
  const words = useText(uiText)
  const { id } = useParams({ from: '/routers/$id/services/new' })
  const navigate = useNavigate()
  const device = api.useQuery('get', '/nas/devices/{id}', { params: { path: { id } } })
  const [typed, setTyped] = useState(noService)
  const write = useWrite('post', '/nas/devices/{id}/services', {
    told: () => t.created,
    then: (made) => void navigate({ to: '/services/$id', params: { id: made.id } }),
  })
  return (
    <Page title={t.add} name={device.data ? `${t.add}: ${isolated(device.data.name)}` : t.add}>
      <Form
        busy={write.isPending}
        onSubmit={() => {
          if (typed.parentInterface) write.mutate({ params: { path: { id } }, body: requested(typed) })
        }}
      >
        <Stack gap="lg" maw={640}>
          <ServiceFields device={id} value={typed} onChange={setTyped} problem={write.error} />
          {write.error && <ProblemNote of={write.error} />}
          <Group gap="xs">
            <Button type="submit" size="sm" loading={write.isPending} disabled={!typed.parentInterface}>{t.create}</Button>
            <Button
              variant="default"
              size="sm"
              renderRoot={(p) => <Link {...p} to="/routers/$id" params={{ id }} search={{ view: 'services' }} />}
            >
              {words.cancel}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Page>
  )
}

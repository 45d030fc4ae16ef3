import { Text } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { subscribersText } from '../../text/subscribers'
import { takingText } from '../../text/taking'
import { FormDialog } from '../../ui/FormDialog'
import { OnceDialog } from '../../ui/OnceDialog'
import { Login } from './Credentials'
import { asked, noService, ServiceFields } from './ServiceFields'

/** AddService gives a customer a plan, and shows the login that was made for the device. */
export function AddService({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useText(subscribersText)
  const words = useText(customerText)
  const taking = useText(takingText)
  const [service, setService] = useState(noService)
  const write = useWrite('post', '/subscriptions')
  const made = write.data && 'username' in write.data ? write.data : null
  const { planId } = service
  if (made) {
    return (
      <OnceDialog title={t.login} verb={taking.done} onClose={onClose}>
        <Login of={made} />
        <Text size="sm" c="dimmed">{t.loginOnce}</Text>
      </OnceDialog>
    )
  }
  return (
    <FormDialog
      title={words.addService}
      hint={t.serviceHint}
      verb={words.addService}
      ready={planId !== null}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => planId && write.mutate({ body: asked(id, { ...service, planId }) })}
      onClose={onClose}
    >
      <ServiceFields value={service} onChange={setService} problem={write.error} />
    </FormDialog>
  )
}

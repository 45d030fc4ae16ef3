import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { subscribersText } from '../../text/subscribers'
import { Form } from '../../ui/Form'
import { Page, Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { Login } from './Credentials'
import { CustomerFields, nobody, registered } from './CustomerFields'
import { asked, noService, ServiceFields } from './ServiceFields'

/** NewCustomerPage registers a customer, with a service in the same go. */
export default function NewCustomerPage() {
  const t = useText(subscribersText)
  const [typed, setTyped] = useState(nobody)
  const [service, setService] = useState(noService)
  const [done, setDone] = useState(false)
  const add = useWrite('post', '/subscriptions', { then: () => setDone(true) })
  const addTo = (subscriberId: string) => {
    const { planId } = service
    if (planId) add.mutate({ body: asked(subscriberId, { ...service, planId }) })
    else setDone(true)
  }
  const register = useWrite('post', '/subscribers', { told: () => t.registered(typed.firstName), then: (c) => addTo(c.id) })
  const made = register.data
  const sold = add.data && 'username' in add.data ? add.data : null
  const again = () => {
    register.reset()
    add.reset()
    setTyped(nobody)
    setService(noService)
    setDone(false)
  }
  const open = made && <Button component={Link} to={`/customers/${made.id}`}>{t.toCustomer}</Button>
  if (made && done) {
    return (
      <Page title={t.registered(typed.firstName)}>
        <Paper withBorder p="md" maw={640}>
          <Stack gap="sm">
            {'accountNumber' in made && <Text>{t.registeredAs(made.accountNumber)}</Text>}
            {sold && (
              <Section title={t.login}>
                <Login of={sold} />
                <Text size="sm" c="dimmed">{t.loginOnce}</Text>
              </Section>
            )}
            <Group gap="xs">
              {open}
              <Button variant="default" onClick={again}>{t.another}</Button>
            </Group>
          </Stack>
        </Paper>
      </Page>
    )
  }
  return (
    <Page title={t.add}>
      <Form
        busy={register.isPending || add.isPending}
        onSubmit={() => {
          if (made) addTo(made.id)
          else register.mutate({ body: registered(typed) })
        }}
      >
        <Stack gap="lg" maw={640}>
          <CustomerFields value={typed} onChange={setTyped} problem={register.error} disabled={made !== undefined} />
          <Section title={t.service}>
            <Text size="sm" c="dimmed">{t.serviceHint}</Text>
            <ServiceFields value={service} onChange={setService} problem={add.error} optional />
          </Section>
          {register.error && <ProblemNote of={register.error} />}
          {add.error && (
            <>
              <Text size="sm">{t.planFailed}</Text>
              <ProblemNote of={add.error} />
            </>
          )}
          <Group gap="xs">
            <Button type="submit" size="sm" loading={register.isPending || add.isPending}>{made ? t.tryPlan : t.register}</Button>
            {open}
          </Group>
        </Stack>
      </Form>
    </Page>
  )
}

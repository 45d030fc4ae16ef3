import { Button, Group, Loader, Paper, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { isNotShown } from '../../api/sending'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { subscribersText } from '../../text/subscribers'
import { uiText } from '../../text/ui'
import { Form } from '../../ui/Form'
import { Page, Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { Login } from './Credentials'
import { CustomerFields, nobody, registered } from './CustomerFields'
import { asked, noService, ServiceFields } from './ServiceFields'

/** NewCustomerPage registers a customer, with a service in the same go. */
export default function NewCustomerPage() {
  const t = useText(subscribersText)
  const words = useText(customerText)
  const may = useMay()
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
  const shown = useShown(made)
  const sold = add.data && 'username' in add.data ? add.data : null
  const again = () => {
    register.reset()
    add.reset()
    setTyped(nobody)
    setService(noService)
    setDone(false)
  }
  // Prepaid begins when its first invoice is paid.
  const pays = shown && sold?.state === 'pending' && sold.openInvoiceId !== null && may('POST /payments/initiate')
  const open = shown && (
    <Button component={Link} to={`/customers/${shown.id}`} variant={pays ? 'default' : 'filled'}>{t.toCustomer}</Button>
  )
  if (made && done) {
    return (
      <Page title={t.registered(typed.firstName)}>
        <Paper withBorder p="md" maw={640}>
          <Stack gap="sm">
            {shown ? <Text>{t.registeredAs(shown.accountNumber)}</Text> : <NotShown />}
            {sold && (
              <Section title={t.login}>
                <Login of={sold} />
                <Text size="sm" c="dimmed">{t.loginOnce}</Text>
              </Section>
            )}
            <Group gap="xs">
              {pays && (
                <Button renderRoot={(props) => <Link {...props} to="/customers/$id" params={{ id: shown.id }} search={{ pay: true }} />}>
                  {words.pay}
                </Button>
              )}
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

const once = 2_000

/** useShown gives a customer who was just made as soon as somebody can read the customer; until then it asks again. */
function useShown(made: { id: string } | undefined) {
  const waits = isNotShown(made)
  const read = api.useQuery('get', '/subscribers/{id}', { params: { path: { id: made?.id ?? '' } } }, {
    enabled: waits,
    retry: false,
    refetchInterval: ({ state }) => (state.data ? false : once),
  })
  if (made && 'accountNumber' in made) return made as { id: string; accountNumber: string }
  return waits ? read.data : undefined
}

/** NotShown says that the customer is saved, and nothing else is to be done than to wait. */
function NotShown() {
  const words = useText(uiText)
  return (
    <Group gap="xs" role="status" wrap="nowrap">
      <Loader size="xs" />
      <Text size="sm">{words.savedNotShown}</Text>
    </Group>
  )
}

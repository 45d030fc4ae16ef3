import { Button, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { usePerson } from '../../app/person'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { Facts } from '../../ui/Facts'
import { Form } from '../../ui/Form'
import { Page, Section } from '../../ui/Page'
import { NewPasswordFields } from './NewPassword'
import { OwnAddresses } from './OwnAddresses'
import { OwnFactor } from './OwnFactor'
import { OwnSessions } from './OwnSessions'
import { fullName } from './words'
import { useNewPassword } from './useNewPassword'

/** AccountPage answers: who am I here, and where am I signed in? */
export default function AccountPage() {
  const t = useText(identityText)
  const { me, role } = usePerson()
  // A session of the platform opens every organization, of whose staff its owner is none.
  const operator = role === 'super_admin'
  return (
    <Page title={t.account}>
      <Facts
        of={[
          [t.name, fullName(me)],
          [t.email, me.email],
          [t.phone, me.phone],
          [t.role, t.roles[role]],
          [t.organization, !operator ? me.org?.name : me.org ? t.platformAt(me.org.name) : t.platform],
        ]}
      />
      <Text size="sm" c="dimmed">{t.mayDo[role]} {!operator ? t.ownDetails : me.org && t.atOrganization(me.org.name)}</Text>
      <OwnFactor />
      <OwnAddresses />
      <OwnSessions />
      <Section title={t.changePassword}>
        <ChangePassword />
      </Section>
    </Page>
  )
}

/** ChangePassword replaces the own password; it stays out of every cache and of the list of calls. */
function ChangePassword() {
  const t = useText(identityText)
  const queries = useQueryClient()
  const form = useNewPassword(() => {
    notifications.show({ message: t.passwordChanged, color: 'teal', autoClose: 6000 })
    void queries.invalidateQueries()
  })
  return (
    <Form busy={form.pending} onSubmit={form.submit}>
      <Stack gap="sm" maw={360}>
        <Text size="sm">{t.changePasswordHint}</Text>
        <NewPasswordFields form={form} />
        <Button type="submit" size="sm" loading={form.pending} style={{ alignSelf: 'start' }}>{t.changePassword}</Button>
      </Stack>
    </Form>
  )
}

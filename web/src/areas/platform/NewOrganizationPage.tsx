import { Button, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import { platformText } from '../../text/platform'
import { Form } from '../../ui/Form'
import { Page, Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { readablePassword } from '../identity/readablePassword'
import { PassOn, TemporaryPasswordField } from '../identity/TemporaryPassword'
import { addressOf, isSlug, slugFor } from './slug'

type NewOrganization = Shape<'OrganizationRequest'>

/** NewOrganizationPage creates an organization with its first administrator. */
export default function NewOrganizationPage() {
  const t = useText(platformText)
  const navigate = useNavigate()
  const [org, setOrg] = useState<NewOrganization>(() => ({
    name: '', slug: '', timezone: 'Africa/Nairobi', currency: 'KES', country: 'KE',
    admin: { email: '', firstName: '', lastName: '', phone: '', temporaryPassword: readablePassword() },
  }))
  const [ownSlug, setOwnSlug] = useState(false)
  const [created, setCreated] = useState<string | null>(null)
  const create = useWrite('post', '/orgs', { told: () => t.created(org.name), then: (answer) => setCreated(answer.id) })
  const set = (part: Partial<NewOrganization>) => setOrg((o) => ({ ...o, ...part }))
  const setAdmin = (part: Partial<NewOrganization['admin']>) => setOrg((o) => ({ ...o, admin: { ...o.admin, ...part } }))
  const { admin } = org
  const sent = { ...org, admin: { ...admin, email: admin.email.trim(), lastName: admin.lastName || undefined, phone: admin.phone || undefined } }
  const ready = isSlug(org.slug) && org.name.trim() !== '' && created === null
  return (
    <Page title={t.create}>
      <Form
        busy={create.isPending}
        onSubmit={() => {
          if (ready) create.mutate({ body: sent })
        }}
      >
        <Stack gap="lg" maw={760}>
          <Section title={t.organization}>
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
              <TextInput
                label={t.name}
                description={t.nameHint}
                value={org.name}
                onChange={(e) => {
                  const name = e.currentTarget.value
                  set(ownSlug ? { name } : { name, slug: slugFor(name) })
                }}
                error={create.error?.of('name')}
                required
                maxLength={200}
              />
              <TextInput
                label={t.slug}
                description={t.slugHint(addressOf(org.slug || 'isp'))}
                value={org.slug}
                onChange={(e) => {
                  setOwnSlug(true)
                  set({ slug: e.currentTarget.value.toLowerCase() })
                }}
                error={org.slug !== '' && !isSlug(org.slug) ? t.slugWrong : create.error?.of('slug')}
                required
                maxLength={63}
                spellCheck={false}
              />
              <Select
                label={t.timezone}
                data={Intl.supportedValuesOf('timeZone')}
                value={org.timezone}
                onChange={(timezone) => timezone && set({ timezone })}
                error={create.error?.of('timezone')}
                searchable
                allowDeselect={false}
                limit={60}
              />
              <SimpleGrid cols={2} spacing="sm">
                <TextInput
                  label={t.currency}
                  description={t.currencyHint}
                  value={org.currency}
                  onChange={(e) => set({ currency: e.currentTarget.value.toUpperCase() })}
                  error={create.error?.of('currency')}
                  maxLength={3}
                />
                <TextInput
                  label={t.country}
                  description={t.countryHint}
                  value={org.country}
                  onChange={(e) => set({ country: e.currentTarget.value.toUpperCase() })}
                  error={create.error?.of('country')}
                  maxLength={2}
                />
              </SimpleGrid>
            </SimpleGrid>
          </Section>
          <AdminFields admin={admin} set={setAdmin} faultOf={(field) => create.error?.of(`admin.${field}`)} />
          {create.error && <ProblemNote of={create.error} />}
          <Button type="submit" size="sm" loading={create.isPending} disabled={!ready} style={{ alignSelf: 'start' }}>{t.create}</Button>
        </Stack>
      </Form>
      {created !== null && (
        <PassOn
          name={[admin.firstName, admin.lastName].filter(Boolean).join(' ')}
          email={admin.email}
          password={admin.temporaryPassword}
          address={addressOf(org.slug)}
          onClose={() => void navigate({ to: '/orgs/$id', params: { id: created } })}
        />
      )}
    </Page>
  )
}

/** AdminFields are the organization's first administrator. */
function AdminFields({ admin, set, faultOf }: {
  admin: NewOrganization['admin']
  set: (part: Partial<NewOrganization['admin']>) => void
  faultOf: (field: keyof NewOrganization['admin']) => string | undefined
}) {
  const t = useText(platformText)
  const words = useText(identityText)
  return (
    <Section title={t.admin}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label={words.firstName}
          value={admin.firstName}
          onChange={(e) => set({ firstName: e.currentTarget.value })}
          error={faultOf('firstName')}
          required
          maxLength={100}
        />
        <TextInput
          label={words.lastName}
          value={admin.lastName}
          onChange={(e) => set({ lastName: e.currentTarget.value })}
          error={faultOf('lastName')}
          maxLength={100}
        />
        <TextInput
          label={words.email}
          description={t.adminHint}
          type="email"
          value={admin.email}
          onChange={(e) => set({ email: e.currentTarget.value })}
          error={faultOf('email')}
          required
          maxLength={254}
          autoComplete="off"
        />
        <TextInput
          label={words.phone}
          type="tel"
          value={admin.phone}
          onChange={(e) => set({ phone: e.currentTarget.value })}
          error={faultOf('phone')}
          maxLength={20}
          autoComplete="off"
        />
        <TemporaryPasswordField
          value={admin.temporaryPassword}
          onChange={(temporaryPassword) => set({ temporaryPassword })}
          error={faultOf('temporaryPassword')}
        />
      </SimpleGrid>
    </Section>
  )
}

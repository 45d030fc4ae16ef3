import { Checkbox, SimpleGrid, Stack } from '@mantine/core'
import { useVersioned, type Versioned } from '../../api/versioned'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { settingsText } from '../../text/settings'
import { EditedNote } from '../../ui/EditedNote'
import { Facts } from '../../ui/Facts'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { NumberField } from '../../ui/NumberField'
import { Page, Section } from '../../ui/Page'
import { SaveBar } from '../../ui/SaveBar'
import { useEdited } from '../../ui/useEdited'
import { ApprovalLimit } from './ApprovalLimit'
import { HolidayFields } from './HolidayFields'
import { IdentityFields } from './IdentityFields'
import { InvoiceFields } from './InvoiceFields'
import { Logo } from './Logo'
import { type Settings, settingsForm, settingsWritten } from './form'
import { rateOf } from './tax'

/** OrganizationPage answers: under which name, zone and tax rules does this organization work? */
export default function OrganizationPage() {
  const app = useText(appText)
  const may = useMay()
  const read = useVersioned('/settings/organization', {})
  return (
    <Page title={app.organization}>
      <Loaded read={read} height={560}>
        {(settings) =>
          may('PUT /settings/organization')
            ? <SettingsForm settings={settings} reread={() => void read.refetch()} />
            : <SettingsFacts of={settings.value} />}
      </Loaded>
      <ApprovalLimit />
      <Logo />
    </Page>
  )
}

/** SettingsForm changes all settings in one write. */
function SettingsForm({ settings, reread }: { settings: Versioned<Settings>; reread: () => void }) {
  const t = useText(settingsText)
  const f = useFormat()
  const save = useWrite('put', '/settings/organization', { told: () => t.saved, shown: () => edited.undo() })
  const edited = useEdited(settings, settingsForm, save.isPending)
  const ready = edited.dirty && !edited.meanwhile && edited.values.components.every((c) => rateOf(c.rate) !== null)
  const fields = { values: edited.values, set: edited.set, problem: save.error }
  return (
    <Form
      busy={save.isPending}
      onSubmit={() => {
        if (ready) save.mutate({ headers: edited.headers, body: settingsWritten(edited.values) })
      }}
    >
      <Stack gap="lg">
        <Section title={t.identity}>
          <IdentityFields {...fields} settings={settings.value} />
        </Section>
        <Section title={t.invoices}>
          <InvoiceFields {...fields} />
        </Section>
        <Section title={t.holidays}>
          <HolidayFields {...fields} />
        </Section>
        <Section title={t.suspense}>
          <NumberField
            label={t.suspenseDays} description={t.suspenseDaysHint} value={edited.values.suspenseDays} min={1} max={90} whole required
            maw={280} error={save.error?.of('suspenseDays')} onChange={(suspenseDays) => edited.set({ suspenseDays })}
          />
        </Section>
        <Section title={t.network}>
          <Checkbox
            label={t.stripRealm}
            description={t.stripRealmHint}
            checked={edited.values.stripRealm}
            onChange={(e) => edited.set({ stripRealm: e.currentTarget.checked })}
          />
        </Section>
        <Section title={t.staff}>
          <Checkbox
            label={t.requireSecondFactor}
            description={t.requireSecondFactorHint}
            checked={edited.values.requireSecondFactor}
            onChange={(e) => edited.set({ requireSecondFactor: e.currentTarget.checked })}
          />
        </Section>
        <EditedNote
          edited={edited}
          names={{
            name: t.name,
            timezone: t.timezone,
            country: t.country,
            invoicePrefix: t.prefix,
            taxPin: t.taxPin,
            mode: [t.taxMode, (mode) => t.modes[mode]],
            components: [t.components, (all) => all.map((c) => t.rateOf(c.name, c.rate)).join(', ')],
            suspenseDays: t.suspenseDays,
            stripRealm: [t.stripRealm, (on) => (on ? t.yes : t.no)],
            requireSecondFactor: [t.requireSecondFactor, (on) => (on ? t.yes : t.no)],
            holidays: [t.holidays, (days) => days.map((d) => f.day(d)).join(', ')],
          }}
          error={save.error}
          onTake={() => {
            save.reset()
            reread()
          }}
        />
        <SaveBar edited={edited} pending={save.isPending} />
      </Stack>
    </Form>
  )
}

/** SettingsFacts shows the settings to those who may not change them. */
function SettingsFacts({ of }: { of: Shape<'SettingsResponse'> }) {
  const t = useText(settingsText)
  const f = useFormat()
  return (
    <SimpleGrid cols={1} spacing="lg">
      <Facts
        of={[
          [t.name, of.name],
          [t.slug, of.slug],
          [t.currency, of.currency],
          [t.timezone, of.timezone],
          [t.country, of.country],
          [t.prefix, of.invoicePrefix],
          [t.taxPin, of.taxPin || t.noTaxPin],
          [t.taxMode, t.modes[of.tax.mode]],
          [t.components, of.tax.components.map((c) => t.rateOf(c.name, String(c.rate))).join(', ') || t.noTax],
          [t.suspenseDays, of.suspenseDays],
          [t.stripRealm, of.stripRealm ? t.yes : t.no],
          [t.requireSecondFactor, of.requireSecondFactor ? t.yes : t.no],
          [t.holidays, of.holidays.map((d) => f.day(d)).join(', ') || '–'],
        ]}
      />
    </SimpleGrid>
  )
}

import { Select, SimpleGrid, TextInput } from '@mantine/core'
import { useMemo } from 'react'
import { locales, useLanguage, useText } from '../../text/catalogue'
import { settingsText } from '../../text/settings'
import type { Fields, Settings } from './form'

/** IdentityFields are name, place and time of the organization. */
export function IdentityFields({ values, set, problem, settings }: Fields & { settings: Settings }) {
  const t = useText(settingsText)
  const language = useLanguage()
  const zones = useMemo(() => [...new Set([settings.timezone, ...Intl.supportedValuesOf('timeZone')])], [settings.timezone])
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      <TextInput
        label={t.name}
        description={t.nameHint}
        value={values.name}
        onChange={(e) => set({ name: e.currentTarget.value })}
        error={problem?.of('name')}
        required
        withAsterisk={false}
        maxLength={200}
      />
      <TextInput label={t.slug} description={t.slugHint} value={settings.slug} readOnly variant="filled" />
      <Select
        label={t.timezone}
        description={t.timezoneHint}
        data={zones}
        value={values.timezone}
        onChange={(timezone) => timezone && set({ timezone })}
        error={problem?.of('timezone')}
        searchable
        allowDeselect={false}
        limit={60}
      />
      <TextInput label={t.currency} description={t.currencyHint} value={settings.currency} readOnly variant="filled" />
      <TextInput
        label={t.country}
        description={countryName(values.country, locales[language]) ?? t.countryHint}
        value={values.country}
        onChange={(e) => set({ country: e.currentTarget.value.toUpperCase() })}
        error={problem?.of('country')}
        required
        withAsterisk={false}
        maxLength={2}
      />
    </SimpleGrid>
  )
}

/** countryName writes out a country's two letters; undefined = they stand for none. */
function countryName(code: string, locale: string): string | undefined {
  try {
    return new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' }).of(code)
  } catch {
    return undefined
  }
}

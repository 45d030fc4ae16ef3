import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client'
import { catalogue, useText } from '../text/catalogue'
import { filterWidth } from './Filters'
import { OrganizationName } from './OrganizationName'
import { organizationLabel } from './organizationLabel'

const texts = catalogue(
  { organization: 'Organization', none: 'No organization is found by this.', searching: 'Searching …' },
  { organization: 'Shirika', none: 'Hakuna shirika linalopatikana kwa hili.', searching: 'Inatafuta …' },
)

/** OrganizationFilter finds an organization of the platform by what is typed: there may be hundreds of them. */
export function OrganizationFilter({ value, onChange }: {
  value: string | undefined
  onChange: (id: string | undefined) => void
}) {
  const t = useText(texts)
  const [typed, setTyped] = useState('')
  const chosen = api.useQuery('get', '/orgs/{id}', { params: { path: { id: value ?? '' } } }, { enabled: value !== undefined }).data
  // The chosen one's own name stands in the field, or its id until it is read, and is nothing that somebody looks for.
  const own = chosen ? organizationLabel(chosen) : value?.slice(0, 8)
  const sought = typed === own ? '' : typed.trim().replace(/ \([a-z0-9-]+\)$/, '')
  const [asked] = useDebouncedValue(sought, 150)
  const found = api.useQuery('get', '/orgs', { params: { query: { q: asked || undefined, limit: 20 } } }, { placeholderData: keepPreviousData })
  const rows = found.data?.data ?? []
  const named = value === undefined || !chosen || rows.some((o) => o.id === value) ? rows : [chosen, ...rows]
  const offered = named.map((o) => ({ value: o.id, label: organizationLabel(o) }))
  if (value !== undefined && !named.some((o) => o.id === value)) offered.unshift({ value, label: value.slice(0, 8) })
  return (
    <Select
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
      data={offered}
      renderOption={({ option }) => {
        const org = named.find((o) => o.id === option.value)
        return org ? <OrganizationName of={org} /> : option.label
      }}
      searchValue={typed}
      onSearchChange={setTyped}
      filter={({ options }) => options} // the server has chosen
      nothingFoundMessage={found.isFetching ? t.searching : t.none}
      placeholder={t.organization}
      aria-label={t.organization}
      searchable
      clearable
      className="filter"
      style={filterWidth(190)}
    />
  )
}

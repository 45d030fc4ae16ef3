import { Group, Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/client'
import type { Row } from '../api/rows'
import { catalogue, useText } from '../text/catalogue'
import { ProblemNote } from './ProblemNote'

type Customer = Row<'/subscribers'>

const texts = catalogue(
  {
    label: 'Customer',
    hint: 'Name, phone or account',
    nobody: 'Nobody is found by this.',
    searching: 'Searching …',
    forgotten: 'Forgotten person',
  },
  {
    label: 'Mteja',
    hint: 'Jina, simu au akaunti',
    nobody: 'Hakuna anayepatikana kwa hili.',
    searching: 'Inatafuta …',
    forgotten: 'Mtu aliyesahaulika',
  },
)

/** CustomerPicker finds a customer by what is typed: arrows move along those found, Enter takes one. */
export function CustomerPicker({ chosen, label, disabled, onChoose }: {
  chosen: Customer | null
  label?: string
  disabled?: boolean
  onChoose: (customer: Customer | null) => void
}) {
  const t = useText(texts)
  const [typed, setTyped] = useState('')
  const [later] = useDebouncedValue(typed.trim(), 150)
  const nameOf = (c: Customer) => [c.firstName, c.lastName].filter(Boolean).join(' ') || t.forgotten
  const labelOf = (c: Customer) => `${nameOf(c)} · ${c.accountNumber}`
  // The name of who is chosen stands in the field, and is nothing to search for.
  const asked = chosen && later === labelOf(chosen) ? '' : later
  const found = api.useQuery('get', '/subscribers', { params: { query: { q: asked || undefined, limit: 10 } } }, {
    placeholderData: keepPreviousData,
  })
  const rows = found.data?.data ?? []
  const offered = chosen && !rows.some((c) => c.id === chosen.id) ? [chosen, ...rows] : rows
  return (
    <>
      <Select
        label={label ?? t.label}
        placeholder={t.hint}
        data={offered.map((c) => ({ value: c.id, label: labelOf(c) }))}
        value={chosen?.id ?? null}
        onChange={(id) => onChoose(offered.find((c) => c.id === id) ?? null)}
        searchValue={typed}
        onSearchChange={setTyped}
        searchable
        clearable
        selectFirstOptionOnChange
        disabled={disabled}
        maxLength={200}
        // The server has searched already.
        filter={({ options }) => options}
        nothingFoundMessage={found.isFetching ? t.searching : t.nobody}
        renderOption={({ option }) => {
          const c = offered.find((each) => each.id === option.value)
          return c && (
            <Group justify="space-between" gap="xs" w="100%" wrap="nowrap">
              <Text size="sm" truncate>{nameOf(c)}</Text>
              <Text size="xs" c="dimmed" className="figure">{c.accountNumber} · {c.phone}</Text>
            </Group>
          )
        }}
      />
      {found.error ? <ProblemNote of={found.error} retry={() => void found.refetch()} /> : null}
    </>
  )
}

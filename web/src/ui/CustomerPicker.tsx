import { CloseButton, Combobox, Group, Text, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../api/client'
import type { Row } from '../api/rows'
import { catalogue, useText } from '../text/catalogue'
import { isolated } from '../text/isolated'
import { ProblemNote } from './ProblemNote'

type Customer = Row<'/subscribers'>

const texts = catalogue(
  {
    label: 'Customer',
    hint: 'Name, phone or account',
    nobody: 'Nobody is found by this.',
    searching: 'Searching …',
    forgotten: 'Forgotten person',
    clear: 'Choose another one',
  },
  {
    label: 'Mteja',
    hint: 'Jina, simu au akaunti',
    nobody: 'Hakuna anayepatikana kwa hili.',
    searching: 'Inatafuta …',
    forgotten: 'Mtu aliyesahaulika',
    clear: 'Chagua mwingine',
  },
)

/** CustomerPicker finds a customer by what is typed: arrows move along those found, Enter takes one. */
export function CustomerPicker({ chosen, label, onChoose }: {
  chosen: Customer | null
  label?: string
  onChoose: (customer: Customer | null) => void
}) {
  const t = useText(texts)
  const [typed, setTyped] = useState('')
  const [asked] = useDebouncedValue(typed.trim(), 150)
  // Enter that comes before the answer means who will be found, and nobody who was found before.
  const [wanted, setWanted] = useState(false)
  const list = useCombobox({ onDropdownClose: () => list.resetSelectedOption() })
  const found = api.useQuery('get', '/subscribers', { params: { query: { q: asked || undefined, limit: 10 } } }, {
    placeholderData: keepPreviousData,
    enabled: list.dropdownOpened,
  })
  const rows = found.data?.data
  const waiting = asked !== typed.trim() || found.isPlaceholderData || found.isPending
  const { selectFirstOption, resetSelectedOption, dropdownOpened } = list
  useEffect(() => {
    if (waiting) resetSelectedOption()
    else if (dropdownOpened && rows && asked) selectFirstOption()
  }, [waiting, dropdownOpened, rows, asked, selectFirstOption, resetSelectedOption])
  const choose = (customer: Customer | undefined) => {
    setWanted(false)
    if (!customer) return
    onChoose(customer)
    setTyped('')
    list.closeDropdown()
  }
  useEffect(() => {
    if (wanted && !waiting) choose(rows?.[0])
  })
  const nameOf = (c: Customer) => [c.firstName, c.lastName].filter(Boolean).join(' ') || t.forgotten
  const type = (text: string) => {
    setTyped(text)
    setWanted(false)
    if (chosen) onChoose(null)
    list.openDropdown()
  }
  return (
    <>
      <Combobox
        store={list}
        onOptionSubmit={(id) => choose(rows?.find((c) => c.id === id))}
      >
        <Combobox.Target>
          <TextInput
            label={label ?? t.label}
            placeholder={t.hint}
            value={chosen ? `${isolated(nameOf(chosen))} · ${chosen.accountNumber}` : typed}
            onChange={(e) => type(e.currentTarget.value)}
            onKeyDown={(e) => {
              if (e.key !== 'Enter' || !waiting || chosen || !typed.trim() || list.getSelectedOptionIndex() !== -1) return
              e.preventDefault() // it does not send the form
              setWanted(true)
            }}
            onFocus={(e) => e.currentTarget.select()}
            onClick={() => list.openDropdown()}
            onBlur={() => list.closeDropdown()}
            rightSection={chosen && <CloseButton size="sm" aria-label={t.clear} onClick={() => type('')} />}
            maxLength={200}
            autoComplete="off"
          />
        </Combobox.Target>
        <Combobox.Dropdown>
          <Combobox.Options mah={260} style={{ overflowY: 'auto' }}>
            {rows?.map((c) => (
              <Combobox.Option value={c.id} key={c.id}>
                <Group justify="space-between" gap="xs" wrap="nowrap">
                  <Text size="sm" truncate>{nameOf(c)}</Text>
                  <Text size="xs" c="dimmed" className="figure">{c.accountNumber} · {c.phone}</Text>
                </Group>
              </Combobox.Option>
            ))}
            {!rows?.length && <Combobox.Empty>{found.isFetching ? t.searching : t.nobody}</Combobox.Empty>}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
      {found.error ? <ProblemNote of={found.error} retry={() => void found.refetch()} /> : null}
    </>
  )
}

import { Modal, ScrollArea, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { Search } from '../ui/icons'
import { organizationPlaces, platformPlaces } from './navigation'
import { useMay, usePerson } from './person'
import { useFound } from './search'

/** Palette finds anything, and leads to any page: two keystrokes from everywhere. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const t = useText(appText)
  const navigate = useNavigate()
  const may = useMay()
  const { platform } = usePerson()
  const [text, setText] = useState('')
  const [asked] = useDebouncedValue(text.trim(), 80)
  const [at, setAt] = useState(0)
  const found = useFound(asked)
  const entries = useMemo(() => {
    const words = text.trim().toLowerCase()
    const places = (platform ? platformPlaces : organizationPlaces)
      .flatMap((g) => g.places)
      .filter((p) => may(p.needs) && t[p.name].toString().toLowerCase().includes(words))
      .map((p) => ({ key: p.to, to: p.to, title: t[p.name] as string, subtitle: t.actions, icon: p.icon }))
    return words ? [...found.entries, ...places.slice(0, 5)] : places
  }, [text, found.entries, platform, may, t])
  const open = (i: number) => {
    const entry = entries[i]
    if (!entry) return
    onClose()
    void navigate({ to: entry.to })
  }
  const onKeyDown = (e: KeyboardEvent) => {
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      e.preventDefault()
      setAt((i) => Math.max(0, Math.min(entries.length - 1, i + step)))
    } else if (e.key === 'Enter') {
      e.preventDefault()
      open(at)
    }
  }
  return (
    <Modal opened onClose={onClose} withCloseButton={false} size="lg" padding={0} yOffset="10vh" centered={false} aria-label={t.search}>
      <TextInput
        value={text}
        onChange={(e) => {
          setText(e.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
        placeholder={t.searchHint}
        aria-label={t.search}
        role="combobox"
        aria-expanded
        aria-controls="found"
        aria-activedescendant={entries[at] ? `found-${at}` : undefined}
        leftSection={<Search size={16} aria-hidden />}
        variant="unstyled"
        size="md"
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <ScrollArea.Autosize mah="60vh" type="auto">
        <Stack gap={0} p={4} id="found" role="listbox" aria-label={t.search} mih={44}>
          {entries.map((e, i) => (
            <UnstyledButton
              key={e.key}
              id={`found-${i}`}
              role="option"
              aria-selected={i === at}
              tabIndex={-1}
              className="found"
              onClick={() => open(i)}
              onMouseMove={() => setAt(i)}
            >
              <e.icon size={16} aria-hidden />
              <Text span size="sm" fw={500} truncate>{e.title}</Text>
              <Text span size="xs" c="dimmed" truncate>{e.subtitle}</Text>
            </UnstyledButton>
          ))}
          {entries.length === 0 && !found.waiting && (
            <Text size="sm" c="dimmed" p="xs" role="status">{found.failed ? t.searchFailed : t.searchNothing}</Text>
          )}
        </Stack>
      </ScrollArea.Autosize>
    </Modal>
  )
}

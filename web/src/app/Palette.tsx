import { Modal, ScrollArea, Text, TextInput, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { mayCall } from '../api/access'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { searchText } from '../text/search'
import { Clock, Search } from '../ui/icons'
import { marked } from './marked'
import { organizationPlaces, platformPlaces } from './navigation'
import { usePerson } from './person'
import { useRecent } from './recent'
import { type Found, useFound } from './search'
import './app.css'

/** Palette finds anything, and leads to any page: two keystrokes from everywhere. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const t = useText(appText)
  const words = useText(searchText)
  const { platform } = usePerson()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const typed = text.trim()
  const [asked] = useDebouncedValue(typed, 50)
  const [at, setAt] = useState(0)
  const found = useFound(asked)
  const waiting = found.waiting || asked !== typed
  const groups = useGroups(typed, found.entries)
  const entries = useMemo(() => groups.flatMap((g) => g.entries), [groups])
  // Enter that comes before the answer means what will be found, and not what was found before.
  const [wanted, setWanted] = useState(false)
  const open = (entry: Found | undefined) => {
    setWanted(false)
    if (!entry) return
    onClose()
    void navigate({ to: entry.to, state: { found: true } })
  }
  useEffect(() => {
    if (wanted && !waiting) open(entries[at])
  })
  const onKeyDown = (e: KeyboardEvent) => {
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      e.preventDefault()
      setAt((i) => Math.max(0, Math.min(entries.length - 1, i + step)))
    } else if (e.key === 'Enter') {
      e.preventDefault()
      if (typed && waiting) setWanted(true)
      else open(entries[at])
    }
  }
  const nothing = entries.length === 0 && !waiting
  return (
    <Modal.Root opened onClose={onClose} size="lg" yOffset="10vh">
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content aria-label={t.search}>
        <Modal.Body p={0}>
          <TextInput
            value={text}
            onChange={(e) => {
              setText(e.currentTarget.value)
              setAt(0)
              setWanted(false)
            }}
            onKeyDown={onKeyDown}
            placeholder={platform ? words.platformHint : t.searchHint}
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
          <VisuallyHidden role="status">{typed && !waiting ? words.found(found.entries.length) : ''}</VisuallyHidden>
          {/* Its height does not follow the number of results, so that nothing moves while somebody types. */}
          <ScrollArea h="min(60vh, 420px)" type="auto" viewportProps={{ tabIndex: 0 }}>
            <div id="found" role="listbox" aria-label={t.search} className="found-list">
              {groups.map((g) => (
                <div key={g.name} role="group" aria-label={g.name}>
                  <Text size="xs" c="dimmed" px="xs" pt={8} pb={2} aria-hidden>{g.name}</Text>
                  {g.entries.map((e) => {
                    const i = entries.indexOf(e)
                    return <Row key={e.key} entry={e} typed={typed} place={i} chosen={i === at} onOpen={() => open(e)} onPoint={() => setAt(i)} />
                  })}
                </div>
              ))}
            </div>
            {(nothing || found.failed) && (
              <Text size="sm" c="dimmed" p="sm">{found.failed ? t.searchFailed : t.searchNothing}</Text>
            )}
          </ScrollArea>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

/** useGroups puts what was found before the pages; with nothing typed, the customers that were opened last. */
function useGroups(typed: string, found: Found[]): { name: string; entries: Found[] }[] {
  const t = useText(appText)
  const words = useText(searchText)
  const { platform, me, role } = usePerson()
  const recent = useRecent(me.id ?? '')
  return useMemo(() => {
    const wanted = typed.toLowerCase()
    const places = (platform ? platformPlaces : organizationPlaces)
      .flatMap((g) => g.places)
      .filter((p) => mayCall(role, p.needs) && t[p.name].toLowerCase().includes(wanted))
      .map((p): Found => ({ key: p.to, to: p.to, title: t[p.name], subtitle: '', icon: p.icon, type: null }))
    const opened = recent.map((r): Found => {
      return { key: r.id, to: `/customers/${r.id}`, title: r.name, subtitle: r.account, icon: Clock, type: null }
    })
    const groups = typed
      ? [{ name: words.results, entries: found }, { name: t.actions, entries: places.slice(0, 5) }]
      : [{ name: words.lastOpened, entries: opened }, { name: t.actions, entries: places }]
    return groups.filter((g) => g.entries.length > 0)
  }, [typed, found, platform, recent, role, t, words])
}

/** Row is one entry; the part that was typed is marked. */
function Row({ entry, typed, place, chosen, onOpen, onPoint }: {
  entry: Found
  typed: string
  place: number
  chosen: boolean
  onOpen: () => void
  onPoint: () => void
}) {
  const words = useText(searchText)
  const row = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (chosen) row.current?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  return (
    <UnstyledButton
      ref={row}
      id={`found-${place}`}
      role="option"
      aria-selected={chosen}
      tabIndex={-1}
      className="found"
      onClick={onOpen}
      onMouseMove={onPoint}
    >
      <entry.icon size={16} aria-hidden />
      <Text span size="sm" fw={500} truncate><Marked text={entry.title} typed={typed} /></Text>
      <Text span size="xs" c="dimmed" truncate><Marked text={entry.subtitle} typed={typed} /></Text>
      <Text span size="xs" c="dimmed">{entry.type && words.types[entry.type]}</Text>
    </UnstyledButton>
  )
}

/** Marked underlines what was typed. */
function Marked({ text, typed }: { text: string; typed: string }) {
  return marked(text, typed).map((p, i) => (p.hit ? <mark key={i} className="hit">{p.text}</mark> : p.text))
}

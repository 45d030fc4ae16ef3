import { Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type MouseEvent, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { mayCall } from '../api/access'
import { passes } from '../api/again'
import { asProblem } from '../api/problem'
import { appText } from '../text/app'
import { useLanguage, useText } from '../text/catalogue'
import { amountsIn } from '../text/format'
import { problemText, sentences } from '../text/problems'
import { searchText } from '../text/search'
import { Clock, Search } from '../ui/icons'
import { useFocusBack } from '../ui/useFocusBack'
import { focusContent } from '../ui/useFocusHere'
import { useSecondsLeft } from '../ui/useSecondsLeft'
import { marked } from './marked'
import type { PaletteProps } from './PaletteField'
import { organizationPlaces, platformPlaces } from './navigation'
import { usePerson } from './person'
import { useRecent } from './recent'
import type { Found } from './found'
import { useFound } from './search'
import './app.css'

/** Palette finds anything, and leads to any page: two keystrokes from everywhere. */
export default function Palette({ typed: before, onClose }: PaletteProps) {
  const t = useText(appText)
  const words = useText(searchText)
  const { platform } = usePerson()
  const leaves = useFocusBack()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const typed = text.trim()
  const [asked] = useDebouncedValue(typed, 50)
  const [at, setAt] = useState(0)
  const found = useFound(asked, platform)
  const waiting = found.waiting || asked !== typed
  const groups = useGroups(typed, found.entries)
  const entries = useMemo(() => groups.flatMap((g) => g.entries), [groups])
  // Enter that comes before the answer means what will be found, and not what was found before. It outlives an answer that
  // is a failure: the search is asked again by itself.
  const [wanted, setWanted] = useState(false)
  // The field before it takes keys until this one stands in its place, which is later than when this is drawn first.
  useLayoutEffect(() => {
    setText((now) => now || before.current.trimEnd())
    if (before.current.endsWith('\n') && before.current.trim() !== '') setWanted(true)
    before.current = ''
  }, [before])
  const open = (entry: Found | undefined) => {
    setWanted(false)
    if (!entry) return
    leaves()
    onClose()
    // A page that stays, with another row in it, does not see that it was opened.
    void navigate({ to: entry.to, search: entry.search as never, state: { found: true } }).then(() => setTimeout(focusContent))
  }
  useEffect(() => {
    if (wanted && !waiting && !found.error) open(entries[at])
  })
  const onKeyDown = (e: KeyboardEvent) => {
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      e.preventDefault()
      const next = Math.max(0, Math.min(entries.length - 1, at + step))
      setAt(next)
      document.getElementById(`found-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else if (e.key === 'Enter') {
      e.preventDefault()
      if (typed && waiting) setWanted(true)
      else open(entries[at])
    }
  }
  const onDialogKey = (e: KeyboardEvent) => {
    if (e.key === 'Escape') {
      e.stopPropagation() // it closes this alone, and leads nowhere back
      onClose()
    }
    // What is typed is all that has the focus here; the arrows choose.
    if (e.key === 'Tab') e.preventDefault()
  }
  const onMouseDown = (e: MouseEvent) => {
    if (e.target === e.currentTarget) onClose()
    else if (!(e.target instanceof HTMLInputElement)) e.preventDefault() // the focus stays where one types
  }
  const failed = useFailure(found.error)
  const nothing = entries.length === 0 && !waiting
  return (
    <div className="palette-above" onMouseDown={onMouseDown}>
      <div className="palette" role="dialog" aria-modal aria-label={t.search} onKeyDown={onDialogKey}>
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
          autoFocus
        />
        <VisuallyHidden role="status">{failed ?? (typed && !waiting ? words.found(found.entries.length) : '')}</VisuallyHidden>
        {/* Its height does not follow the number of results, so that nothing moves while somebody types. */}
        <div className="found-frame" tabIndex={0}>
          <div id="found" role="listbox" aria-label={t.search} className="found-list">
            {groups.map((g) => (
              <div key={g.name} role="group" aria-label={g.name}>
                <div className="found-group" aria-hidden>{g.name}</div>
                {g.entries.map((e) => {
                  const i = entries.indexOf(e)
                  return <Row key={e.key} entry={e} typed={typed} place={i} chosen={i === at} onOpen={() => open(e)} onPoint={() => setAt(i)} />
                })}
              </div>
            ))}
          </div>
          {(nothing || failed) && <Text size="sm" c="dimmed" p="sm" aria-hidden>{failed ?? t.searchNothing}</Text>}
        </div>
      </div>
    </div>
  )
}

/** useFailure says why a search failed and what to do; null = it did not. */
function useFailure(error: unknown): string | null {
  const t = useText(searchText)
  const words = useText(problemText)
  const left = useSecondsLeft(error)
  if (!error) return null
  const problem = asProblem(error)
  return t.searchFailed(sentences(problem, words, left).join(' '), passes(problem))
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

/** Row is one entry; the part that was typed is marked. It is plain elements: all are drawn while somebody types. */
function Row({ entry, typed, place, chosen, onOpen, onPoint }: {
  entry: Found
  typed: string
  place: number
  chosen: boolean
  onOpen: () => void
  onPoint: () => void
}) {
  const words = useText(searchText)
  const language = useLanguage()
  return (
    <button
      type="button"
      id={`found-${place}`}
      role="option"
      aria-selected={chosen}
      tabIndex={-1}
      className="found"
      onClick={onOpen}
      onMouseMove={onPoint}
    >
      <entry.icon size={16} aria-hidden />
      <span><Marked text={entry.title} typed={typed} /></span>
      <span><Marked text={hasAmount(entry) ? amountsIn(entry.subtitle, language) : entry.subtitle} typed={typed} /></span>
      <span>{entry.type && words.types[entry.type]}</span>
    </button>
  )
}

// Others are named by people, who may well write an amount.
const hasAmount = ({ type }: Found) => type === 'invoice' || type === 'receipt'

/** Marked underlines what was typed. */
function Marked({ text, typed }: { text: string; typed: string }) {
  return marked(text, typed).map((p, i) => (p.hit ? <mark key={i} className="hit">{p.text}</mark> : p.text))
}

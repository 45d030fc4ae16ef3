import { Button, CloseButton, Group, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type CSSProperties, type ReactNode, useEffect, useId, useState } from 'react'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Search } from './icons'

/** Filters is the line above a list; what it holds stands in the address. */
export function Filters({ children, any, onClear }: { children: ReactNode; any: boolean; onClear: () => void }) {
  const t = useText(uiText)
  return (
    <Group gap="xs" role="search">
      {children}
      {any && <Button variant="subtle" onClick={onClear}>{t.clear}</Button>}
    </Group>
  )
}

/**
 * filterWidth is the width of a filter where there is place for it. It takes half of a phone's, or the whole line: by the
 * style sheet, since the library would make one for each filter, of which the browser works out all styles again.
 */
export const filterWidth = (px: number) => ({ '--filter-width': `${px}px` }) as CSSProperties

/** TextFilter follows typing with a short delay. */
export function TextFilter({ value, label, width = 260, onChange }: {
  value: string | undefined
  label: string
  width?: number
  onChange: (value: string | undefined) => void
}) {
  const t = useText(uiText)
  const [text, setText] = useState(value ?? '')
  const later = useDebouncedCallback((v: string) => onChange(v.trim() || undefined), 200)
  useEffect(() => {
    setText((now) => (now.trim() === (value ?? '') ? now : (value ?? '')))
  }, [value])
  return (
    <TextInput
      value={text}
      onChange={(e) => {
        setText(e.currentTarget.value)
        later(e.currentTarget.value)
      }}
      placeholder={label}
      aria-label={label}
      leftSection={<Search size={14} aria-hidden />}
      rightSection={text && (
        <CloseButton
          size="sm"
          aria-label={t.clear}
          onClick={() => {
            setText('')
            onChange(undefined)
          }}
        />
      )}
      maxLength={200}
      className={width < 200 ? 'filter' : 'filter filter-line'}
      style={filterWidth(width)}
    />
  )
}

/** ChoiceFilter offers the values of a filter; its own name, which stands first, takes all. */
export function ChoiceFilter<T extends string>({ value, label, names, onChange }: {
  value: T | undefined
  label: string
  /** names has the word for each value, in the order of the list. */
  names: Partial<Record<T, string>>
  onChange: (value: T | undefined) => void
}) {
  return (
    <NativeSelect
      value={value ?? ''}
      onChange={(e) => onChange((e.currentTarget.value as T) || undefined)}
      data={[{ value: '', label }, ...Object.entries(names).map(([v, name]) => ({ value: v, label: String(name) }))]}
      aria-label={label}
      data-empty={value === undefined || undefined}
      className="filter choice"
      style={filterWidth(170)}
    />
  )
}

/** ExactFilter takes a whole word, at Enter or when the field is left: half of it would fit nothing. */
export function ExactFilter({ value, label, known = [], onChange }: {
  value: string | undefined
  label: string
  /** known are values to choose from; others may be typed. */
  known?: { value: string; label?: string }[]
  onChange: (value: string | undefined) => void
}) {
  const id = useId()
  const [text, setText] = useState(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  const done = (v: string) => {
    if (v.trim() !== (value ?? '')) onChange(v.trim() || undefined)
  }
  return (
    <>
      <TextInput
        value={text}
        onChange={(e) => {
          const v = e.currentTarget.value
          setText(v)
          if (v === '' || known.some((k) => k.value === v)) done(v)
        }}
        onBlur={() => done(text)}
        onKeyDown={(e) => e.key === 'Enter' && done(text)}
        placeholder={label}
        aria-label={label}
        list={id}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        className="filter"
        style={filterWidth(190)}
      />
      <datalist id={id}>
        {known.map((k) => <option key={k.value} value={k.value}>{k.label}</option>)}
      </datalist>
    </>
  )
}

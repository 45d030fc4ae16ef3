import { Text, TextInput } from '@mantine/core'
import { catalogue, useText } from '../text/catalogue'
import { filterWidth } from './Filters'

const texts = catalogue({ from: 'From', to: 'To' }, { from: 'Kuanzia', to: 'Hadi' })

/** Between are the days of a list, both included; an instant in the address counts, and is shown as its day. */
interface Between {
  from?: string
  to?: string
}

/** SpanFilter narrows a list to days of the organization. */
export function SpanFilter({ of, onChange }: { of: Between; onChange: (part: Between) => void }) {
  const t = useText(texts)
  const from = of.from?.slice(0, 10)
  const to = of.to?.slice(0, 10)
  return (
    <>
      <Day label={t.from} value={from} max={to} onChange={(day) => onChange({ from: day })} />
      <Day label={t.to} value={to} min={from} onChange={(day) => onChange({ to: day })} />
    </>
  )
}

function Day({ label, value, min, max, onChange }: {
  label: string
  value: string | undefined
  min?: string
  max?: string
  onChange: (day: string | undefined) => void
}) {
  return (
    <TextInput
      type="date"
      aria-label={label}
      title={label}
      leftSection={<Text span size="xs" c="dimmed" aria-hidden>{label}</Text>}
      leftSectionWidth={56}
      value={value ?? ''}
      min={min}
      max={max}
      onChange={(e) => onChange(e.currentTarget.value || undefined)}
      className="filter filter-line"
      style={filterWidth(190)}
    />
  )
}

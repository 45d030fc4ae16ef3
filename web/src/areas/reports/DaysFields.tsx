import { Button, Group, TextInput } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { reportsText } from '../../text/reports'
import { type Days, type Preset, presets } from './months'

/** DaysFields choose the days of a report, or a usual span of them. */
export function DaysFields({ days, today, onChange }: { days: Days; today: string; onChange: (days: Days) => void }) {
  const t = useText(reportsText)
  const usual = presets(today)
  return (
    <Group gap="xs" align="flex-end">
      <TextInput
        type="date" label={t.from} value={days.from} max={days.to}
        onChange={(e) => e.currentTarget.value && onChange({ ...days, from: e.currentTarget.value })}
      />
      <TextInput
        type="date" label={t.to} value={days.to} min={days.from} max={today} error={days.from > days.to && t.wrongSpan}
        onChange={(e) => e.currentTarget.value && onChange({ ...days, to: e.currentTarget.value })}
      />
      {(Object.keys(usual) as Preset[]).map((name) => {
        const current = usual[name].from === days.from && usual[name].to === days.to
        return (
          <Button
            key={name}
            size="sm"
            px="sm"
            variant={current ? 'light' : 'subtle'}
            onClick={() => onChange(usual[name])}
            aria-pressed={current}
          >
            {t.presets[name]}
          </Button>
        )
      })}
    </Group>
  )
}

/** daysOf gives the days that an address names; without them they are those of the present month. */
export function daysOf(search: Partial<Days>, today: string): Days {
  const { month } = presets(today)
  const to = search.to ?? today
  return { from: search.from ?? (search.to ? `${search.to.slice(0, 8)}01` : month.from), to }
}

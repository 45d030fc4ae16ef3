import { Button, CloseButton, Group, Stack, Text, TextInput } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { useNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { settingsText } from '../../text/settings'
import { Plus } from '../../ui/icons'
import type { Fields } from './form'
import './settings.css'

/** HolidayFields are the days on which nobody is cut off. */
export function HolidayFields({ values, set, problem }: Fields) {
  const t = useText(settingsText)
  const f = useFormat()
  const today = f.date(useNow())
  const [day, setDay] = useState('')
  const ready = /^\d{4}-\d\d-\d\d$/.test(day) && !values.holidays.includes(day)
  const add = () => {
    if (!ready) return
    set({ holidays: [...values.holidays, day].sort() })
    setDay('')
  }
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key !== 'Enter') return
    // Enter adds the day; it does not save the form around it.
    e.preventDefault()
    add()
  }
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">{t.holidaysHint}</Text>
      {values.holidays.length === 0 ? <Text size="sm">{t.noHolidays}</Text> : (
        <ul className="holidays">
          {values.holidays.map((h) => (
            <li key={h}>
              <Text span size="sm" c={h < today ? 'dimmed' : undefined}>
                {f.weekday(h)} {f.day(h)} {h < today && `(${t.past})`}
              </Text>
              <CloseButton
                size="sm"
                aria-label={t.removeHoliday(f.day(h))}
                onClick={() => set({ holidays: values.holidays.filter((each) => each !== h) })}
              />
            </li>
          ))}
        </ul>
      )}
      {problem?.of('holidays') && <Text size="sm" c="var(--tone-bad)">{problem.of('holidays')}</Text>}
      <Group gap="xs" align="flex-end">
        <TextInput
          label={t.newHoliday}
          type="date"
          value={day}
          onChange={(e) => setDay(e.currentTarget.value)}
          onKeyDown={onKeyDown}
          w={180}
        />
        <Button size="sm" variant="default" leftSection={<Plus size={14} aria-hidden />} onClick={add} disabled={!ready}>
          {t.addHoliday}
        </Button>
      </Group>
    </Stack>
  )
}

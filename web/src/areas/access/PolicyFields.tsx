import { Fieldset, Select, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Problem } from '../../api/problem'
import { locales, useLanguage, useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { policiesText } from '../../text/policies'
import { type CutTime, cutTimeOf, type Policy, readDays, type Weekday, weekdays, withCutTime } from './policy'
import { NumberField } from '../../ui/NumberField'
import './access.css'

/** faultOf finds what the API says about one field of the policy: its faults begin with the policy's name. */
type FaultOf = (field: keyof Policy) => string | undefined

/** faultsOf gives the faults of the policy that is called so. */
export const faultsOf = (problem: Problem | null, under: string): FaultOf => (field) => problem?.of(`${under}.${field}`)

/** PolicyFields are the rules of a policy as a form. */
export function PolicyFields({ of: p, faultOf, onChange }: {
  of: Policy
  faultOf: FaultOf
  onChange: (policy: Policy) => void
}) {
  const t = useText(policiesText)
  const { zone } = useFormat()
  const number = (field: 'graceDays' | 'walledGardenDays' | 'writeOffDays' | 'minimumDue', max: number) => ({
    label: t[field],
    value: p[field],
    min: 0,
    max,
    required: true,
    withAsterisk: false,
    // The policy keeps its number while nothing stands there that could take its place.
    onChange: (v: number | '') => v !== '' && onChange({ ...p, [field]: v }),
    error: faultOf(field),
  })
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
        <ReminderDays days={p.reminderDays} fault={faultOf('reminderDays')} onChange={(reminderDays) => onChange({ ...p, reminderDays })} />
        <NumberField {...number('graceDays', 365)} description={t.graceHint} whole />
        <NumberField {...number('walledGardenDays', 365)} description={t.walledHint} whole />
        <NumberField {...number('writeOffDays', 3650)} description={t.writeOffHint} whole />
        <NumberField {...number('minimumDue', 1e9)} description={t.minimumHint} amountIn={zone.currency} suffix={` ${zone.currency}`} />
        <Fieldset variant="unstyled" legend={t.messageHours}>
          <SimpleGrid cols={2} spacing="xs">
            {(['from', 'to'] as const).map((end) => (
              <TextInput
                key={end}
                type="time"
                label={t[end]}
                value={p.messageHours[end]}
                onChange={(e) => onChange({ ...p, messageHours: { ...p.messageHours, [end]: e.currentTarget.value } })}
                error={end === 'from' && faultOf('messageHours')}
                required
                withAsterisk={false}
              />
            ))}
          </SimpleGrid>
        </Fieldset>
      </SimpleGrid>
      <Fieldset variant="unstyled" legend={t.cuts}>
        <Stack gap={4}>
          {weekdays.map((day) => <CutDay key={day} day={day} of={p} onChange={onChange} />)}
          {weekdays.every((d) => p.noCutDays.includes(d)) && <Text size="sm" c="var(--tone-bad)">{t.noDayLeft}</Text>}
          {[faultOf('noCutDays'), faultOf('noCutAfter')].filter(Boolean).map((fault) => (
            <Text key={fault} size="sm" c="var(--tone-bad)">{fault}</Text>
          ))}
          <Switch
            mt={4}
            label={t.skipHolidays}
            checked={p.skipHolidays}
            onChange={(e) => onChange({ ...p, skipHolidays: e.currentTarget.checked })}
          />
        </Stack>
      </Fieldset>
    </Stack>
  )
}

function ReminderDays({ days, fault, onChange }: { days: number[]; fault?: string; onChange: (days: number[]) => void }) {
  const t = useText(policiesText)
  const [text, setText] = useState(days.join(', '))
  const read = readDays(text)
  // What is typed stands in the field as long as it means the same days.
  const shown = read === null || read.join() === [...days].sort((a, b) => a - b).join() ? text : days.join(', ')
  return (
    <TextInput
      label={t.reminderDays}
      description={t.reminderHint}
      value={shown}
      onChange={(e) => {
        setText(e.currentTarget.value)
        const typed = readDays(e.currentTarget.value)
        if (typed) onChange(typed)
      }}
      error={read === null ? t.reminderWrong : fault}
    />
  )
}

function CutDay({ day, of: p, onChange }: { day: Weekday; of: Policy; onChange: (policy: Policy) => void }) {
  const t = useText(policiesText)
  const name = useWeekday()(day)
  const cut = cutTimeOf(p, day)
  const set = (next: CutTime) => onChange(withCutTime(p, day, next))
  return (
    <div className="cut-day">
      <Text span size="sm">{name}</Text>
      <div>
        <Select
          aria-label={`${t.cuts}: ${name}`}
          value={cut.when}
          allowDeselect={false}
          data={(['always', 'before', 'never'] as const).map((value) => ({ value, label: t.cutWhen[value] }))}
          onChange={(v) => set(v === 'before' ? { when: 'before', time: '16:00' } : { when: v === 'never' ? 'never' : 'always' })}
        />
      </div>
      {cut.when === 'before' && (
        <TextInput
          type="time"
          aria-label={t.cutUntil(name)}
          value={cut.time}
          onChange={(e) => set({ when: 'before', time: e.currentTarget.value })}
          required
        />
      )}
    </div>
  )
}

/** useWeekday gives the names of weekdays in the person's language. */
export function useWeekday(): (day: Weekday) => string {
  const language = useLanguage()
  const format = new Intl.DateTimeFormat(locales[language], { weekday: 'long', timeZone: 'UTC' })
  // 5 January 1970 was a Monday.
  return (day) => format.format(new Date(Date.UTC(1970, 0, 5 + weekdays.indexOf(day))))
}

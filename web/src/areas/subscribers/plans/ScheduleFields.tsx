import { ActionIcon, Button, Checkbox, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core'
import type { Problem } from '../../../api/problem'
import { useText } from '../../../text/catalogue'
import { plansText } from '../../../text/plans'
import { Plus, Trash2 } from '../../../ui/icons'
import type { WindowDraft } from './draft'
import { choices, Speed } from './PlanForm'

// The hours that people mostly mean.
const night: WindowDraft = { days: [], from: '22:00', to: '06:00', down: '', up: '', burst: null }

/** ScheduleFields are the hours at which other speeds apply. */
export function ScheduleFields({ windows, problem, onChange }: {
  windows: WindowDraft[]
  problem: Problem | null
  onChange: (windows: WindowDraft[]) => void
}) {
  const t = useText(plansText)
  const set = (at: number, part: Partial<WindowDraft>) => {
    onChange(windows.map((w, i) => (i === at ? { ...w, ...part } : w)))
  }
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>{t.schedule}</Text>
      {windows.length > 0 && <Text size="xs" c="dimmed">{t.scheduleHint}</Text>}
      {windows.map((w, i) => {
        const fault = (field: string) => problem?.of(`schedule[${i}].${field}`)
        return (
          // Windows have no name of their own; they are told apart by their place.
          <Fieldset key={i} legend={t.windowN(i + 1)} variant="unstyled">
            <Group gap="sm" align="flex-end">
              <Checkbox.Group label={t.days} value={w.days} error={fault('days')} onChange={(days) => set(i, { days })}>
                <Group gap="xs" mih={36}>
                  {choices(t.dayNames).map((d) => <Checkbox key={d.value} size="xs" value={d.value} label={d.label} />)}
                </Group>
              </Checkbox.Group>
              <TextInput
                type="time"
                label={t.from}
                value={w.from}
                error={fault('from')}
                required
                withAsterisk={false}
                onChange={(e) => set(i, { from: e.currentTarget.value })}
              />
              <TextInput
                type="time"
                label={t.to}
                value={w.to}
                error={fault('to')}
                required
                withAsterisk={false}
                onChange={(e) => set(i, { to: e.currentTarget.value })}
              />
              <Speed
                label={t.down}
                value={w.down}
                required
                fault={fault('rates.down')}
                onChange={(down) => set(i, { down })}
              />
              <Speed label={t.up} value={w.up} required fault={fault('rates.up')} onChange={(up) => set(i, { up })} />
              <ActionIcon
                mb={4}
                aria-label={t.removeWindow(i + 1)}
                title={t.removeWindow(i + 1)}
                onClick={() => onChange(windows.filter((_, n) => n !== i))}
              >
                <Trash2 size={16} aria-hidden />
              </ActionIcon>
            </Group>
          </Fieldset>
        )
      })}
      <Group>
        <Button
          variant="subtle"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...windows, night])}
        >
          {t.addWindow}
        </Button>
      </Group>
    </Stack>
  )
}

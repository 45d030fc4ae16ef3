import { Select, Stack, TextInput } from '@mantine/core'
import { useAll } from '../../api/all'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { isolated } from '../../text/isolated'
import { subscribersText } from '../../text/subscribers'
import { PartNote } from '../../ui/PartNote'

/** NewService is what is typed for a new service; empty texts are left to the server. */
interface NewService {
  planId: string | null
  username: string
  startDate: string
}

export const noService: NewService = { planId: null, username: '', startDate: '' }

/** asked is the body of the call for a new service. */
export function asked(subscriberId: string, s: NewService & { planId: string }) {
  return {
    subscriberId,
    planId: s.planId,
    ...(s.username.trim() ? { username: s.username.trim() } : {}),
    ...(s.startDate ? { startDate: s.startDate } : {}),
  }
}

const allPlans = {}

/** ServiceFields chooses a plan, and what goes with it. */
export function ServiceFields({ value, onChange, problem, optional }: {
  value: NewService
  onChange: (next: NewService) => void
  problem: Problem | null
  /** optional: the plan may come later. */
  optional?: boolean
}) {
  const t = useText(subscribersText)
  const f = useFormat()
  const plans = useAll('/plans', allPlans)
  const data = (plans.rows ?? []).filter((p) => !p.archived).map((p) => ({
    value: p.id,
    label: `${isolated(p.name)} · ${f.money(p.price, p.currency)} ${t.perPeriod[p.billing.period] ?? ''}`,
  }))
  const set = (part: Partial<NewService>) => onChange({ ...value, ...part })
  return (
    <Stack gap="sm">
      <Select
        label={t.plan}
        data={data}
        value={value.planId}
        onChange={(planId) => set({ planId })}
        placeholder={optional ? t.later : undefined}
        clearable={optional}
        searchable
        error={problem?.of('planId')}
      />
      <PartNote of={plans} />
      {value.planId && (
        <>
          <TextInput
            label={t.username} description={t.usernameHint} value={value.username} autoComplete="off"
            onChange={(e) => set({ username: e.currentTarget.value })} error={problem?.of('username')}
          />
          <TextInput
            type="date" label={t.startDate} description={t.startHint} value={value.startDate}
            onChange={(e) => set({ startDate: e.currentTarget.value })} error={problem?.of('startDate')}
          />
        </>
      )}
    </Stack>
  )
}

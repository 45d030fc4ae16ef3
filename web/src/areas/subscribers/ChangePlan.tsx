import { Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAll } from '../../api/all'
import { api } from '../../api/client'
import { Problem } from '../../api/problem'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { isolated } from '../../text/isolated'
import { planChangeText } from '../../text/planChange'
import { subscribersText } from '../../text/subscribers'
import { Facts } from '../../ui/Facts'
import { FormDialog } from '../../ui/FormDialog'
import { Loaded } from '../../ui/Loaded'
import { PartNote } from '../../ui/PartNote'

type Preview = Shape<'PlanChangePreview'>

const allPlans = {}

/**
 * ChangePlan gives a service another plan. What that does and costs is asked of the server, which changes the plan only
 * as it was shown.
 */
export function ChangePlan({ of, onClose }: { of: Shape<'SubscriptionResponse'>; onClose: () => void }) {
  const t = useText(planChangeText)
  const words = useText(subscribersText)
  const f = useFormat()
  const [planId, setPlanId] = useState<string | null>(null)
  const plans = useAll('/plans', allPlans)
  const preview = api.useQuery(
    'post', '/subscriptions/{id}/change-plan/preview',
    { params: { path: { id: of.id } }, body: { planId: planId ?? '' } },
    { enabled: planId !== null, gcTime: 0, staleTime: 0, retry: false },
  )
  const told = planId !== null && preview.data && 'previewToken' in preview.data ? preview.data : undefined
  const write = useWrite('post', '/subscriptions/{id}/change-plan', {
    told: () => (told?.atOnce ? t.done : t.planned),
    then: onClose,
  })
  const verb = (p: Preview | undefined) => {
    if (p && p.amountDue > 0) return t.verbFor(f.money(p.amountDue, p.currency))
    return p && !p.atOnce && p.effective ? t.verbLater(f.day(p.effective)) : t.verb
  }
  const choices = (plans.rows ?? []).filter((p) => possible(p, of)).map((p) => ({
    value: p.id,
    label: `${isolated(p.name)} · ${f.money(p.price, p.currency)} ${words.perPeriod[p.billing.period] ?? ''}`,
  }))
  return (
    <FormDialog
      title={t.title(isolated(of.planName))}
      verb={verb(told)}
      ready={told !== undefined}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => told && write.mutate(
        { params: { path: { id: of.id } }, body: { previewToken: told.previewToken } },
        { onError: (e) => { if (e instanceof Problem && e.code === 'preview_stale') void preview.refetch() } },
      )}
      onClose={onClose}
    >
      <Select
        label={t.to} data={choices} value={planId} searchable data-autofocus nothingFoundMessage={t.none}
        onChange={(next) => { write.reset(); setPlanId(next) }}
      />
      <PartNote of={plans} />
      {planId !== null && (
        <Loaded read={{ ...preview, data: told }} height={90}>{(p) => <Told of={p} present={of.planId} />}</Loaded>
      )}
    </FormDialog>
  )
}

type Plan = NonNullable<ReturnType<typeof useAll<'/plans'>>['rows']>[number]

/** possible leaves out what the server refuses whatever else is true. The present plan drops a planned change. */
function possible(p: Plan, of: Shape<'SubscriptionResponse'>): boolean {
  if (p.archived || p.currency !== of.currency || p.billing.mode !== of.billing.mode) return false
  return p.id !== of.planId || p.version !== of.planVersion || of.plannedPlan !== null
}

function Told({ of: p, present }: { of: Preview; present: string }) {
  const t = useText(planChangeText)
  const f = useFormat()
  const when = p.atOnce ? t.atOnce : p.effective ? t.later(f.minute(p.effective)) : t.laterUnknown
  return (
    <Stack gap="xs">
      <Text size="sm">{p.planId === present && p.lines.length === 0 ? t.stays : when}</Text>
      {p.lines.length > 0 && (
        <Stack gap={2}>
          <Text size="sm" fw={600}>{t.cost}</Text>
          <Facts
            of={[
              ...p.lines.map((l, i): [string, string] => [
                // The two plans can have one name, and two periods can be concerned.
                `${i + 1}. ${l.planName ? t.days(isolated(l.planName), l.days, l.of) : t.discount}`, f.money(l.amount, p.currency),
              ]),
              [t.due, p.dueDate ? t.dueOn(f.money(p.amountDue, p.currency), f.day(p.dueDate)) : t.free],
            ]}
          />
        </Stack>
      )}
      {p.replaced.length > 0 && <Text size="sm">{t.replaced(p.replaced.length)}</Text>}
      {p.periods.length > 0 && (
        <Stack gap={2}>
          <Text size="sm" fw={600}>{t.invoiced}</Text>
          <Facts
            of={p.periods.map((i, n): [string, string] => [
              `${n + 1}. ${isolated(i.description)}`, t.dueOn(f.money(i.amount, p.currency), f.day(i.dueDate)),
            ])}
          />
        </Stack>
      )}
      <Text size="sm" c="dimmed">{t.next(f.money(p.nextPrice, p.currency))}</Text>
    </Stack>
  )
}

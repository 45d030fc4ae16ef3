import { Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { api } from '../../../api/client'
import type { Problem } from '../../../api/problem'
import { useText } from '../../../text/catalogue'
import { plansText } from '../../../text/plans'
import { sellsParts, type PlanDraft } from './draft'
import { choices, figure, Speed } from './PlanForm'
import { ScheduleFields } from './ScheduleFields'
import { NumberField } from '../../../ui/NumberField'

const noBurst = { down: '', up: '', thresholdDown: '', thresholdUp: '', seconds: 16 } as const
const noCap = { gigabytes: '', period: 'month', then: 'throttle', down: '', up: '' } as const

/** PlanTerms are the terms that the usual plan does not need. */
export function PlanTerms({ draft, problem, set }: {
  draft: PlanDraft
  problem: Problem | null
  set: (part: Partial<PlanDraft>) => void
}) {
  const t = useText(plansText)
  const { data: policies } = api.useQuery('get', '/settings/dunning')
  const { burst, cap } = draft
  return (
    <Stack gap="md">
      {draft.mode === 'prepaid' && (
        <Select
          label={t.late} description={t.lateHint} data={choices(t.lates)} value={draft.lateRenewal}
          allowDeselect={false}
          onChange={(v) => v && set({ lateRenewal: v as PlanDraft['lateRenewal'] })} maw={420}
        />
      )}
      {sellsParts(draft) && (
        <Select
          label={t.partial} description={t.partialHint} data={choices(t.partials)} value={draft.partialPayment}
          allowDeselect={false} error={problem?.of('partialPayment')}
          onChange={(v) => v && set({ partialPayment: v as PlanDraft['partialPayment'] })} maw={420}
        />
      )}
      {draft.mode === 'postpaid' && (
        <Select
          label={t.suspended} description={t.suspendedHint} data={choices(t.suspendeds)}
          value={draft.billWhileSuspended} allowDeselect={false} error={problem?.of('billWhileSuspended')}
          onChange={(v) => v && set({ billWhileSuspended: v as PlanDraft['billWhileSuspended'] })} maw={420}
        />
      )}
      <Select
        label={t.policy} placeholder={t.policyDefault} clearable
        data={Object.keys(policies?.policies ?? {})}
        value={draft.dunningPolicy || null} error={problem?.of('dunningPolicy')}
        onChange={(v) => set({ dunningPolicy: v ?? '' })} maw={420}
      />
      <Group gap="sm" align="flex-start">
        <NumberField
          label={t.sessions} value={draft.sessionLimit} error={problem?.of('sessionLimit')}
          onChange={(v) => set({ sessionLimit: figure(v) })} min={1} max={16} whole w={150}
        />
        <Select
          label={t.onLimit} data={choices(t.onLimits)} value={draft.onLimit} allowDeselect={false}
          onChange={(v) => v && set({ onLimit: v as PlanDraft['onLimit'] })} w={200}
        />
      </Group>
      <Stack gap="xs">
        <Switch
          label={t.burst} checked={burst !== null}
          onChange={(e) => set({ burst: e.currentTarget.checked ? { ...noBurst } : null })}
        />
        {burst && (
          <>
            <Text size="xs" c="dimmed">{t.burstHint}</Text>
            <Group gap="sm" align="flex-start">
              <Speed
                label={t.burstDown}
                value={burst.down}
                required
                fault={problem?.of('rates.burst.down')}
                onChange={(down) => set({ burst: { ...burst, down } })}
              />
              <Speed
                label={t.burstUp}
                value={burst.up}
                required
                fault={problem?.of('rates.burst.up')}
                onChange={(up) => set({ burst: { ...burst, up } })}
              />
              <Speed
                label={t.thresholdDown}
                value={burst.thresholdDown}
                required
                fault={problem?.of('rates.burst.thresholdDown')}
                onChange={(v) => set({ burst: { ...burst, thresholdDown: v } })}
              />
              <Speed
                label={t.thresholdUp}
                value={burst.thresholdUp}
                required
                fault={problem?.of('rates.burst.thresholdUp')}
                onChange={(v) => set({ burst: { ...burst, thresholdUp: v } })}
              />
              <NumberField
                label={t.seconds} value={burst.seconds} error={problem?.of('rates.burst.seconds')}
                required withAsterisk={false}
                onChange={(v) => set({ burst: { ...burst, seconds: figure(v) } })} min={1} whole hideControls w={100}
              />
            </Group>
          </>
        )}
      </Stack>
      <Stack gap="xs">
        <Switch
          label={t.cap} checked={cap !== null}
          onChange={(e) => set({ cap: e.currentTarget.checked ? { ...noCap } : null })}
        />
        {cap && (
          <Group gap="sm" align="flex-start">
            <NumberField
              label={t.capBytes} value={cap.gigabytes} error={problem?.of('cap.bytes')} required withAsterisk={false}
              onChange={(v) => set({ cap: { ...cap, gigabytes: figure(v) } })}
              min={0} suffix={` ${t.gb}`} hideControls w={210}
            />
            <Select
              label={t.capPeriod} data={choices({ day: t.periods.day, month: t.periods.month })} value={cap.period}
              allowDeselect={false} onChange={(v) => v && set({ cap: { ...cap, period: v as 'day' } })} w={130}
            />
            <Select
              label={t.capThen} data={choices(t.capThens)} value={cap.then} allowDeselect={false}
              onChange={(v) => v && set({ cap: { ...cap, then: v as 'stop' } })} w={210}
            />
            {cap.then === 'throttle' && (
              <>
                <Speed
                  label={t.capDown}
                  value={cap.down}
                  required
                  fault={problem?.of('cap.throttle.down')}
                  onChange={(down) => set({ cap: { ...cap, down } })}
                />
                <Speed
                  label={t.capUp}
                  value={cap.up}
                  required
                  fault={problem?.of('cap.throttle.up')}
                  onChange={(up) => set({ cap: { ...cap, up } })}
                />
              </>
            )}
          </Group>
        )}
      </Stack>
      <ScheduleFields windows={draft.schedule} problem={problem} onChange={(schedule) => set({ schedule })} />
      <Stack gap={4}>
        <Group gap="sm" align="flex-start">
          <TextInput
            label={t.pool}
            value={draft.pool}
            error={problem?.of('pool')}
            onChange={(e) => set({ pool: e.currentTarget.value })}
            w={220}
          />
          <TextInput
            label={t.ipv6Pool}
            value={draft.ipv6Pool}
            error={problem?.of('ipv6.pool')}
            onChange={(e) => set({ ipv6Pool: e.currentTarget.value })}
            w={220}
          />
          <TextInput
            label={t.ipv6Delegated} value={draft.ipv6Delegated} error={problem?.of('ipv6.delegatedPool')}
            onChange={(e) => set({ ipv6Delegated: e.currentTarget.value })} w={260}
          />
        </Group>
        <Text size="xs" c="dimmed">{t.poolHint}</Text>
      </Stack>
    </Stack>
  )
}

import { Button, Collapse, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import type { Problem } from '../../../api/problem'
import { useText } from '../../../text/catalogue'
import { useFormat } from '../../../text/format'
import { plansText } from '../../../text/plans'
import { uiText } from '../../../text/ui'
import { Form, leaves } from '../../../ui/Form'
import { ChevronDown, ChevronRight } from '../../../ui/icons'
import { NumberField } from '../../../ui/NumberField'
import { ProblemNote } from '../../../ui/ProblemNote'
import { commaOrPoint } from '../../../ui/decimals'
import { type Figure, hasMore, type PlanDraft } from './draft'
import { PlanTerms } from './PlanTerms'

/** figure takes what a field of figures gives while somebody types. */
export const figure = (typed: number | string): Figure => (typed === '' ? '' : Number(typed))

/** choices makes the options of a Select of words. */
export function choices<T extends string>(names: Record<T, string>): { value: T; label: string }[] {
  return Object.entries<string>(names).map(([value, label]) => ({ value: value as T, label }))
}

/** lastDay is the last day of the month that every month has. */
const lastDay = 28

/** anchors makes the options of the day on which a month is billed. */
function anchors(t: { anchors: (anchor: string) => string }) {
  const days = Array.from({ length: lastDay }, (_, i) => String(i + 1))
  return ['anniversary', ...days].map((value) => ({ value, label: t.anchors(value) }))
}

/** PlanForm is short for the usual plan; the rest is under "more". */
export function PlanForm({ draft, fresh, verb, note, waits, refusal, pending, problem, onChange, onSave, onCancel }: {
  draft: PlanDraft
  /** fresh = a new plan, whose code can be chosen. */
  fresh?: boolean
  verb: string
  note?: string
  /** waits = it cannot be sent until somebody has answered the refusal. */
  waits?: boolean
  /** refusal tells why it was not saved, in place of the problem alone. */
  refusal?: ReactNode
  pending: boolean
  problem: Problem | null
  onChange: (draft: PlanDraft) => void
  onSave: () => void
  onCancel?: () => void
}) {
  const t = useText(plansText)
  const words = useText(uiText)
  const f = useFormat()
  const [more, { toggle }] = useDisclosure(hasMore(draft))
  const set = (part: Partial<PlanDraft>) => onChange({ ...draft, ...part })
  return (
    <Form busy={pending} onSubmit={onSave}>
      <Stack gap="md" maw={760}>
        <Group gap="sm" align="flex-start" grow preventGrowOverflow={false}>
          <TextInput
            label={t.name} value={draft.name} onChange={(e) => set({ name: e.currentTarget.value })}
            error={problem?.of('name')} required withAsterisk={false} maxLength={100} miw={240}
          />
          <TextInput
            label={t.code}
            description={fresh && t.codeHint}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            value={draft.code}
            onChange={(e) => set({ code: e.currentTarget.value })}
            error={problem?.of('code')} readOnly={!fresh} required withAsterisk={false} maxLength={50} miw={160}
          />
        </Group>
        <Group gap="sm" align="flex-start">
          <NumberField
            label={`${t.price} (${f.zone.currency})`} value={draft.price} onChange={(v) => set({ price: figure(v) })}
            error={problem?.of('price')} required withAsterisk={false}
            min={0} amountIn={f.zone.currency} hideControls w={150}
          />
          <Select
            label={t.period} data={choices(t.periods)} value={draft.period} allowDeselect={false}
            onChange={(v) => v && set({ period: v as PlanDraft['period'] })} w={130}
          />
          {draft.period === 'month' && (
            <Select
              label={t.anchor} data={anchors(t)} value={draft.anchor} allowDeselect={false}
              onChange={(v) => v && set({ anchor: v as PlanDraft['anchor'] })} error={problem?.of('billing.anchor')}
              description={draft.anchor !== 'anniversary' && t.anchorHint}
              inputWrapperOrder={['label', 'input', 'description', 'error']} w={220}
            />
          )}
          <Select
            label={t.mode} data={choices(t.modes)} value={draft.mode} allowDeselect={false}
            onChange={(v) => v && set({ mode: v as PlanDraft['mode'] })} w={150}
          />
          <Select
            label={t.kind} data={choices(t.kinds)} value={draft.kind} allowDeselect={false}
            onChange={(v) => v && set({ kind: v as PlanDraft['kind'] })} w={220}
          />
        </Group>
        <Group gap="sm" align="flex-start">
          <Speed
            label={t.down}
            value={draft.down}
            required
            fault={problem?.of('rates.down')}
            onChange={(down) => set({ down })}
          />
          <Speed
            label={t.up}
            value={draft.up}
            required
            fault={problem?.of('rates.up')}
            onChange={(up) => set({ up })}
          />
        </Group>
        <Group>
          <Button
            variant="subtle" px={0} h="auto" py={6} onClick={toggle} aria-expanded={more}
            styles={{ label: { whiteSpace: 'normal', textAlign: 'start' } }}
            leftSection={more ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
          >
            {more ? t.less : t.more}
          </Button>
        </Group>
        <Collapse in={more}>{more && <PlanTerms draft={draft} problem={problem} set={set} />}</Collapse>
        {refusal ?? (problem && <ProblemNote of={problem} />)}
        <Group gap="sm">
          <Button type="submit" size="sm" loading={pending} disabled={note !== undefined || waits}>{verb}</Button>
          {onCancel && <Button {...leaves} size="sm" variant="default" onClick={onCancel}>{words.cancel}</Button>}
          {note && <Text size="sm" c="dimmed">{note}</Text>}
        </Group>
      </Stack>
    </Form>
  )
}

/** Speed is a field for Mbps. */
export function Speed({ label, value, required, fault, onChange }: {
  label: string
  value: Figure
  required?: boolean
  fault?: string
  onChange: (value: Figure) => void
}) {
  const t = useText(plansText)
  return (
    <NumberField
      label={label} value={value} onChange={(v) => onChange(figure(v))} error={fault}
      required={required} withAsterisk={false} min={0} decimalScale={3} allowedDecimalSeparators={commaOrPoint} hideControls suffix={` ${t.mbps}`} w={130}
    />
  )
}

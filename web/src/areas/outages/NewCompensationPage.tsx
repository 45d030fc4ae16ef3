import { Button, Group, Radio, Select, Stack, Text, Textarea } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAll } from '../../api/all'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { outagesText } from '../../text/outages'
import { Form } from '../../ui/Form'
import { NumberField } from '../../ui/NumberField'
import { Page } from '../../ui/Page'
import { PartNote } from '../../ui/PartNote'
import { ProblemNote } from '../../ui/ProblemNote'
import { InstantField } from '../../ui/InstantField'
import { nameOf } from './place'
import { PlaceFields } from './PlaceFields'
import { noCompensation, previewed, type TypedCompensation } from './typed'

/** NewCompensationPage says for what something is given and how much, and leads to the preview. Nothing is given here. */
export default function NewCompensationPage() {
  const t = useText(outagesText)
  const { zone: { timezone } } = useFormat()
  const { outageId } = useSearch({ from: '/compensations/new' })
  const navigate = useNavigate()
  const [typed, setTyped] = useState<TypedCompensation>({ ...noCompensation, outageId: outageId ?? null })
  const change = (part: Partial<TypedCompensation>) => setTyped({ ...typed, ...part })
  const write = useWrite('post', '/compensations', {
    then: (made) => void navigate({ to: '/compensations/$id', params: { id: made.id } }),
  })
  const body = previewed(typed, timezone)
  return (
    <Page title={t.newCompensation}>
      <Form busy={write.isPending} onSubmit={() => body && write.mutate({ body })}>
        <Stack gap="md" maw={640}>
          <Text size="sm" c="dimmed">{t.newHint}</Text>
          <Radio.Group label={t.where} value={typed.byPlace ? 'place' : 'outage'} onChange={(v) => change({ byPlace: v === 'place' })}>
            <Group gap="md" mt={4}>
              <Radio value="outage" label={t.chooseOutage} />
              <Radio value="place" label={`${t.router}, ${t.service}, ${t.area}`} />
            </Group>
          </Radio.Group>
          {typed.byPlace
            ? <PlaceFields value={typed.place} onChange={(place) => change({ place })} problem={write.error} />
            : <OutageField value={typed.outageId} error={write.error?.of('outageId')} onChange={(id) => change({ outageId: id })} />}
          {typed.byPlace && (
            <Group gap="sm" align="flex-start">
              <InstantField label={t.from} value={typed.from} onChange={(from) => change({ from })} error={write.error?.of('from')} />
              <InstantField label={t.to} value={typed.to} onChange={(to) => change({ to })} error={write.error?.of('to')} />
            </Group>
          )}
          <Give of={typed} change={change} error={write.error?.of('give')} />
          <Textarea
            label={t.reason}
            description={t.reasonHint}
            value={typed.reason}
            onChange={(e) => change({ reason: e.currentTarget.value })}
            error={write.error?.of('reason')}
            maxLength={500}
            autosize
          />
          {write.error && <ProblemNote of={write.error} />}
          <Group><Button type="submit" size="sm" loading={write.isPending} disabled={!body}>{t.preview}</Button></Group>
        </Stack>
      </Form>
    </Page>
  )
}

/** Give chooses what each customer gets. */
function Give({ of, change, error }: { of: TypedCompensation; change: (part: Partial<TypedCompensation>) => void; error?: string }) {
  const t = useText(outagesText)
  const { zone: { currency } } = useFormat()
  return (
    <>
      <Radio.Group label={t.give} value={of.give} onChange={(v) => change({ give: v as TypedCompensation['give'] })}>
        <Stack gap={6} mt={4}>
          {Object.entries(t.gives).map(([value, label]) => <Radio key={value} value={value} label={label} />)}
        </Stack>
      </Radio.Group>
      {of.give === 'days' && <NumberField label={t.days} value={of.days} onChange={(days) => change({ days })} min={1} whole error={error} w={160} />}
      {of.give === 'money' && <NumberField label={t.amount} value={of.amount} onChange={(amount) => change({ amount })} amountIn={currency} error={error} w={200} />}
    </>
  )
}

const past = { state: 'ended' } as const

/** OutageField offers the outages that are over. */
function OutageField({ value, error, onChange }: { value: string | null; error?: string; onChange: (id: string | null) => void }) {
  const t = useText(outagesText)
  const f = useFormat()
  const outages = useAll('/outages', past)
  return (
    <>
      <Select
        label={t.outage}
        placeholder={outages.rows?.length === 0 ? t.noPast : undefined}
        value={value}
        onChange={onChange}
        data={(outages.rows ?? []).map((o) => ({ value: o.id, label: `${nameOf(o, t)}, ${f.short(o.startedAt)}` }))}
        error={error}
        searchable
        clearable
      />
      <PartNote of={outages} />
    </>
  )
}

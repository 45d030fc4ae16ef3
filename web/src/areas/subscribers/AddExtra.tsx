import { SegmentedControl, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { extrasText } from '../../text/extras'
import { isolated } from '../../text/isolated'
import { commaOrPoint } from '../../ui/decimals'
import { FormDialog } from '../../ui/FormDialog'
import { NumberField } from '../../ui/NumberField'
import { type ExtraKind, extraKinds, extraPaths } from './extraKinds'

/** AddExtra puts a charge, an add-on or a discount onto the next invoices of a service. */
export function AddExtra({ id, plan, currency, onClose }: { id: string; plan: string; currency: string; onClose: () => void }) {
  const t = useText(extrasText)
  const [kind, setKind] = useState<ExtraKind>('charges')
  const [description, setDescription] = useState('')
  const [by, setBy] = useState<'percent' | 'amount'>('percent')
  const [worth, setWorth] = useState<number | string>('')
  const [periods, setPeriods] = useState<number | string>('')
  const [until, setUntil] = useState('')
  const write = useWrite('post', extraPaths[kind].add, { told: () => t.done, then: onClose })
  const percent = kind === 'discounts' && by === 'percent'
  const value = Number(worth)
  return (
    <FormDialog
      title={t.title(isolated(plan))}
      hint={t.hint}
      verb={t.verb}
      ready={description.trim() !== '' && value > 0}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id } },
        body: {
          description: description.trim(),
          ...(percent ? { percent: value } : { amount: value }),
          ...(kind === 'charges' ? {} : { ...(periods === '' ? {} : { periods: Number(periods) }), ...(until ? { until } : {}) }),
        } as { description: string; amount: number },
      })}
      onClose={onClose}
    >
      <Select
        label={t.kind} value={kind} allowDeselect={false} data={extraKinds.map((k) => ({ value: k, label: t.kinds[k] }))}
        onChange={(next) => { write.reset(); setKind((next ?? 'charges') as ExtraKind) }}
      />
      <TextInput
        label={t.description} value={description} onChange={(e) => setDescription(e.currentTarget.value)} required withAsterisk={false}
        error={write.error?.of('description')} data-autofocus
      />
      {kind === 'discounts' && (
        <SegmentedControl
          aria-label={t.by} value={by} onChange={(next) => setBy(next as 'percent' | 'amount')}
          data={(['percent', 'amount'] as const).map((each) => ({ value: each, label: t.bys[each] }))}
        />
      )}
      <NumberField
        key={percent ? 'percent' : 'amount'} label={percent ? t.percent : t.amount} value={worth} onChange={setWorth} min={0}
        {...(percent ? { max: 100, decimalScale: 2, allowedDecimalSeparators: commaOrPoint } : { amountIn: currency })}
        required withAsterisk={false}
        error={write.error?.of(percent ? 'percent' : 'amount')}
      />
      {kind !== 'charges' && (
        <>
          <NumberField
            label={t.periods} description={t.always} value={periods} onChange={setPeriods} min={1} whole
            error={write.error?.of('periods')}
          />
          <TextInput
            type="date" label={t.until} description={t.always} value={until} onChange={(e) => setUntil(e.currentTarget.value)}
            error={write.error?.of('until')}
          />
        </>
      )}
    </FormDialog>
  )
}

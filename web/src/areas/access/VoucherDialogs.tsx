import { Select, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Row } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { serverNow } from '../../app/clock'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { isolated } from '../../text/isolated'
import { uiText } from '../../text/ui'
import { vouchersText } from '../../text/vouchers'
import { Confirm } from '../../ui/Confirm'
import { FormDialog } from '../../ui/FormDialog'
import { NumberField } from '../../ui/NumberField'

/** MakeVouchers makes a batch; onMade gets its codes, which nobody can read a second time. */
export function MakeVouchers({ plans, onMade, onClose }: {
  plans: Row<'/plans'>[]
  onMade: (batch: Shape<'BatchResponse'>) => void
  onClose: () => void
}) {
  const t = useText(vouchersText)
  const f = useFormat()
  const [planId, setPlanId] = useState(plans[0]?.id ?? null)
  const [count, setCount] = useState<number | string>(20)
  const [prefix, setPrefix] = useState('')
  const write = useWrite('post', '/vouchers', {
    told: (a) => ('codes' in a ? t.told(a.count) : ''),
    then: (a) => ('codes' in a ? onMade(a) : onClose()),
  })
  return (
    <FormDialog
      title={t.make}
      hint={t.makeHint}
      verb={t.make}
      ready={planId !== null && Number(count) >= 1}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => planId && write.mutate({ body: { planId, count: Number(count), ...(prefix ? { prefix } : {}) } })}
      onClose={onClose}
    >
      <Select
        label={t.plan}
        value={planId}
        onChange={setPlanId}
        data={plans.map((p) => ({
          value: p.id, label: `${isolated(p.name)} · ${f.money(p.price, p.currency)} · ${t.periods[p.billing.period] ?? p.billing.period}`,
        }))}
        error={write.error?.of('planId')}
        allowDeselect={false}
        data-autofocus
      />
      <NumberField
        label={t.count} description={t.countHint} value={count} onChange={setCount}
        min={1} max={5000} whole error={write.error?.of('count')} required withAsterisk={false}
      />
      <TextInput
        label={t.prefixLong} description={t.prefixHint} value={prefix} onChange={(e) => setPrefix(e.currentTarget.value.trim())}
        maxLength={10} error={write.error?.of('prefix')} autoComplete="off"
      />
    </FormDialog>
  )
}

/** useVoid makes a voucher worthless, and says so where it was worthless before. */
function useVoid(onClose: () => void) {
  const t = useText(vouchersText)
  const [opened] = useState(serverNow)
  return useWrite('post', '/vouchers/{code}/void', {
    told: (a) => ('voidedAt' in a && a.voidedAt && Date.parse(a.voidedAt) < opened ? t.voidAlready : t.voidTold),
    then: onClose,
  })
}

/** VoidVoucher makes a voucher worthless. It takes the code from the slip: no list has codes. */
export function VoidVoucher({ onClose }: { onClose: () => void }) {
  const t = useText(vouchersText)
  const words = useText(uiText)
  const [code, setCode] = useState('')
  const [reason, setReason] = useState('')
  const write = useVoid(onClose)
  return (
    <FormDialog
      title={t.void}
      hint={t.voidHint}
      verb={t.voidVerb}
      ready={code.trim() !== '' && reason.trim() !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ params: { path: { code: code.trim() } }, body: { reason: reason.trim() } })}
      onClose={onClose}
    >
      <TextInput
        label={t.code} description={t.codeHint} value={code} onChange={(e) => setCode(e.currentTarget.value)}
        maxLength={60} error={write.error?.of('code')} required withAsterisk={false} autoComplete="off" spellCheck={false} data-autofocus
      />
      <Textarea
        label={words.reason} description={words.reasonWhy} value={reason} onChange={(e) => setReason(e.currentTarget.value)}
        maxLength={500} required withAsterisk={false} autosize
      />
    </FormDialog>
  )
}

/** VoidRow makes a voucher of the list worthless, for which nobody has to have its slip. */
export function VoidRow({ of: voucher, onClose }: { of: Row<'/vouchers'>; onClose: () => void }) {
  const t = useText(vouchersText)
  const write = useVoid(onClose)
  return (
    <Confirm
      title={t.voidOne}
      verb={t.voidVerb}
      danger
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { code: voucher.id } }, body: { reason } })}
      onClose={onClose}
    >
      {voucher.state === 'active' ? t.voidActiveDoes : t.voidUnusedOneDoes}
    </Confirm>
  )
}

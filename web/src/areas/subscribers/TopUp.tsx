import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { FormDialog } from '../../ui/FormDialog'
import { commaOrPoint } from '../../ui/decimals'
import { NumberField } from '../../ui/NumberField'

/** TopUp adds traffic until the plan's cap resets, as a gift or for a price. */
export function TopUp({ id, plan, currency, onClose }: { id: string; plan: string; currency: string; onClose: () => void }) {
  const t = useText(customerText)
  const [gigabytes, setGigabytes] = useState<number | string>('')
  const [price, setPrice] = useState<number | string>('')
  const write = useWrite('post', '/subscriptions/{id}/top-ups', { told: () => t.added, then: onClose })
  return (
    <FormDialog
      title={t.topUpTitle(plan)}
      hint={t.topUpDoes}
      verb={t.topUp}
      ready={Number(gigabytes) > 0}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        params: { path: { id } },
        body: { bytes: Math.round(Number(gigabytes) * 1e9), ...(price === '' ? {} : { price: Number(price) }) },
      })}
      onClose={onClose}
    >
      <NumberField
        label={t.gigabytes} value={gigabytes} onChange={setGigabytes} min={0} decimalScale={3} required withAsterisk={false}
        allowedDecimalSeparators={commaOrPoint}
        error={write.error?.of('bytes')} data-autofocus
      />
      <NumberField
        label={`${t.topUpPrice} (${currency})`} description={t.free} value={price} onChange={setPrice} min={0} decimalScale={2}
        error={write.error?.of('price')}
      />
    </FormDialog>
  )
}

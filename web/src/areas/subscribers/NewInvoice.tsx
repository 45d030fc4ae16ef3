import { Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { FormDialog } from '../../ui/FormDialog'
import { commaOrPoint } from '../../ui/decimals'
import { NumberField } from '../../ui/NumberField'
import type { Customer } from './words'

/** NewInvoice charges for something once. */
export function NewInvoice({ of: c, onClose }: { of: Customer; onClose: () => void }) {
  const t = useText(customerText)
  const [description, setDescription] = useState('')
  const [quantity, setQuantity] = useState<number | string>(1)
  const [unitPrice, setUnitPrice] = useState<number | string>('')
  const write = useWrite('post', '/invoices', {
    told: (i) => t.issued(('number' in i ? i.number : null) ?? ''),
    then: onClose,
  })
  return (
    <FormDialog
      title={t.invoiceTitle}
      hint={t.invoiceHint}
      verb={t.issue}
      ready={description.trim() !== '' && Number(quantity) > 0 && unitPrice !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({
        body: {
          subscriberId: c.id,
          lines: [{ description: description.trim(), quantity: Number(quantity), unitPrice: Number(unitPrice) }],
        },
      })}
      onClose={onClose}
    >
      <TextInput
        label={t.description} value={description} onChange={(e) => setDescription(e.currentTarget.value)} maxLength={200} required
        withAsterisk={false} data-autofocus
      />
      <Group grow>
        <NumberField label={t.quantity} value={quantity} onChange={setQuantity} min={0} decimalScale={3} allowedDecimalSeparators={commaOrPoint} />
        <NumberField label={`${t.unitPrice} (${c.currency})`} value={unitPrice} onChange={setUnitPrice} min={0} amountIn={c.currency} />
      </Group>
    </FormDialog>
  )
}

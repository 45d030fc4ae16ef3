import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { writeOffText } from '../../text/writeOff'
import { Confirm } from '../../ui/Confirm'
import { Loaded } from '../../ui/Loaded'
import { NumberField } from '../../ui/NumberField'

/** WriteOff gives up what a customer owes, or a part of it. */
export function WriteOff({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const t = useText(writeOffText)
  const f = useFormat()
  const [amount, setAmount] = useState<number | ''>('')
  const customer = api.useQuery('get', '/subscribers/{id}', { params: { path: { id } } })
  const { balance: due = 0, currency = f.zone.currency } = customer.data ?? {}
  const write = useWrite('post', '/subscribers/{id}/write-off', {
    told: (c) => ('balance' in c ? t.done(c.balance > 0 ? f.money(c.balance, c.currency) : '') : t.accepted),
    then: onClose,
  })
  return (
    <Confirm
      title={t.title(name)}
      verb={amount === '' ? t.verb : t.verbPart(f.money(amount, currency))}
      incomplete={due <= 0 || amount === 0}
      danger
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => {
        const body = amount === '' ? { reason } : { reason, amount }
        write.mutate({ params: { path: { id } }, body })
      }}
      onClose={onClose}
    >
      <Loaded read={customer} height={96}>
        {() => due <= 0 ? <Text size="sm">{t.nothing}</Text> : (
          <Stack gap="sm">
            <Text size="sm">{t.does}</Text>
            <NumberField
              label={t.amount}
              description={t.rest(f.money(due, currency))}
              value={amount}
              onChange={setAmount}
              min={0}
              max={due}
              amountIn={currency}
              hideControls
              error={write.error?.of('amount')}
              data-autofocus
            />
          </Stack>
        )}
      </Loaded>
    </Confirm>
  )
}

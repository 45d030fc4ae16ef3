import { Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { refundsText } from '../../text/refunds'
import { Confirm } from '../../ui/Confirm'
import { NumberField } from '../../ui/NumberField'
import { restOf, setAsideOf } from './booked'
import { useRefunds } from './useRefunds'
import type { ReceiptRow } from './words'

/** RefundDialog asks for a refund of a receipt: of all that no refund has yet, or of a part of it. */
export function RefundDialog({ of: r, onClose }: { of: ReceiptRow; onClose: () => void }) {
  const t = useText(refundsText)
  const f = useFormat()
  const [amount, setAmount] = useState<number | ''>('')
  const held = r.creditedTo === null
  const [wanted, setBy] = useState<'manual' | 'reversal'>('reversal')
  const setAside = setAsideOf(useRefunds(r).data?.data ?? [])
  const left = r.amount - r.refunded - setAside
  // What pays an invoice cannot go back.
  const credit = held ? left : restOf(r, setAside)
  // The provider sends back whole payments only.
  const whole = r.reversible && r.amount - credit < 0.01
  const by = whole ? wanted : 'manual'
  const back = by === 'reversal'
  const write = useWrite('post', '/receipts/{id}/refund', { told: () => t.requested, then: onClose })
  return (
    <Confirm
      title={t.title(f.money(back || amount === '' ? credit : amount, r.currency))}
      verb={t.verb}
      reason
      incomplete={credit < 0.01}
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({
        params: { path: { id: r.id } },
        body: { by, reason, ...(back || amount === '' ? {} : { amount }) },
      })}
      onClose={onClose}
    >
      <Stack gap="sm">
        {whole && (
          <Radio.Group label={t.by} value={by} onChange={(value) => setBy(value === 'reversal' ? value : 'manual')}>
            <Stack gap="xs" mt={4}>
              <Radio value="reversal" label={t.bys.reversal} />
              <Radio value="manual" label={t.bys.manual} />
            </Stack>
          </Radio.Group>
        )}
        {credit < 0.01
          ? <Text size="sm" fw={600}>{t.noCredit}</Text>
          : left - credit >= 0.01 && <Text size="sm" fw={600}>{t.onlyCredit(f.money(credit, r.currency))}</Text>}
        <Text size="sm">{back ? t.doesReversal : t.does}</Text>
        {back ? null : held ? <Text size="sm">{t.wholeHint}</Text> : (
          <NumberField
            label={t.part}
            description={t.partHint}
            value={amount}
            onChange={setAmount}
            min={0.01}
            max={left}
            amountIn={r.currency}
            hideControls
          />
        )}
      </Stack>
    </Confirm>
  )
}

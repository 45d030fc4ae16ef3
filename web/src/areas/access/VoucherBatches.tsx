import { Button, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Row, useRows } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { vouchersText } from '../../text/vouchers'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Money } from '../../ui/Money'
import { When } from '../../ui/When'
import { voucherStates } from './routes'

type Batch = Row<'/voucher-batches'>

/** VoucherBatches counts what became of the vouchers that were made together, and voids those that were lost together. */
export function VoucherBatches({ planId }: { planId: string | undefined }) {
  const t = useText(vouchersText)
  const may = useMay()
  const f = useFormat()
  const list = useRows('/voucher-batches', { planId })
  const [voiding, setVoiding] = useState<Batch | null>(null)
  const columns: Column<Batch>[] = [
    {
      id: 'batch', title: t.batch, width: 164, narrow: 96,
      cell: (b) => <Link to="/vouchers" search={{ batchId: b.id }}>{b.prefix ?? f.minute(b.createdAt)}</Link>,
    },
    { id: 'plan', title: t.plan, wideOnly: true, cell: (b) => b.planName },
    { id: 'price', title: t.price, width: 110, figure: true, wideOnly: true, cell: (b) => <Money amount={b.price} currency={b.currency} /> },
    { id: 'made', title: t.made, width: 132, wideOnly: true, cell: (b) => <When at={b.createdAt} /> },
    { id: 'count', title: t.all, width: 70, figure: true, wideOnly: true, cell: (b) => f.number(b.count) },
    ...voucherStates.map((state): Column<Batch> => ({
      id: state, title: t.states[state], width: 104, narrow: 90, figure: true, wideOnly: state !== 'unused',
      cell: (b) => b.vouchers[state] > 0
        ? <Link to="/vouchers" search={{ batchId: b.id, state }}>{f.number(b.vouchers[state])}</Link>
        : <Text span inherit c="dimmed">–</Text>,
    })),
    ...(may('POST /voucher-batches/{id}/void-unused') ? [{
      id: 'void', title: '', width: 164, narrow: 150,
      cell: (b: Batch) => b.vouchers.unused > 0 && (
        <Button variant="default" size="compact-xs" onClick={() => setVoiding(b)}>{t.voidUnused}</Button>
      ),
    }] : []),
  ]
  return (
    <>
      <DataTable
        list={list} columns={columns} rowKey={(b) => b.id} label={t.batches}
        empty={<Empty title={t.none}>{t.noneHint}</Empty>}
      />
      {voiding && <VoidUnused of={voiding} onClose={() => setVoiding(null)} />}
    </>
  )
}

/** VoidUnused voids what nobody has used. A large batch takes several calls; each one that was made stays made. */
function VoidUnused({ of: batch, onClose }: { of: Batch; onClose: () => void }) {
  const t = useText(vouchersText)
  const f = useFormat()
  const [voided, setVoided] = useState(0)
  const [left, setLeft] = useState(batch.vouchers.unused)
  const write = useWrite('post', '/voucher-batches/{id}/void-unused', {
    told: (a) => ('batch' in a && a.batch.vouchers.unused > 0 ? '' : t.voidedTold(voided + ('voided' in a ? a.voided : 0))),
  })
  const [running, setRunning] = useState(false)
  const run = async (reason: string) => {
    setRunning(true)
    try {
      for (;;) {
        const a = await write.mutateAsync({ params: { path: { id: batch.id } }, body: { reason } })
        if (!('batch' in a) || a.batch.vouchers.unused === 0 || a.voided === 0) break
        setVoided((n) => n + a.voided)
        setLeft(a.batch.vouchers.unused)
      }
      onClose()
    } catch {
      // The dialog shows what the write failed with.
    } finally {
      setRunning(false)
    }
  }
  return (
    <Confirm
      title={t.voidUnusedTitle(batch.prefix ?? f.minute(batch.createdAt))}
      verb={t.voidUnused}
      danger
      reason
      pending={running}
      error={write.error}
      onConfirm={(reason) => void run(reason)}
      onClose={onClose}
    >
      <Text size="sm" role="status">{voided > 0 ? t.voidUnusedProgress(voided, left) : t.voidUnusedDoes(left)}</Text>
    </Confirm>
  )
}

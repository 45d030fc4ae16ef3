import { Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import { batchesText } from '../../text/batches'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { CustomerLink } from '../../ui/CustomerLink'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Facts } from '../../ui/Facts'
import { Loaded } from '../../ui/Loaded'
import { Money } from '../../ui/Money'
import { Page } from '../../ui/Page'
import { UndoBatch } from '../../ui/UndoBatch'
import { When } from '../../ui/When'

type Batch = Row<'/batches'>
type Item = Row<'/batches/{id}/items'>

/** BatchPage answers: what did this batch do to each customer, and what was taken back of it? */
export default function BatchPage() {
  const t = useText(batchesText)
  const { id } = useParams({ from: '/batches/$id' })
  const read = api.useQuery('get', '/batches/{id}', { params: { path: { id } } })
  return (
    <Page title={read.data ? t.kinds[read.data.kind] : t.batches} wide>
      <Loaded read={read} height={220}>{(batch) => <Outcome of={batch} />}</Loaded>
    </Page>
  )
}

function Outcome({ of: batch }: { of: Batch }) {
  const t = useText(batchesText)
  const f = useFormat()
  const list = useRows('/batches/{id}/items', {}, { path: { id: batch.id } })
  const outcome = (i: Item) =>
    i.outcome === 'blocked' ? (t.reasons[i.code ?? ''] ?? i.code) : i.outcome === 'credited' ? t.credited[batch.kind] : i.outcome === 'undone' ? t.undone : ''
  const columns: Column<Item>[] = [
    { id: 'customer', title: t.customer, cell: (i) => <CustomerLink of={i.subscriber} /> },
    { id: 'amount', title: t.amount, width: 130, narrow: 110, figure: true, cell: (i) => (i.currency ? <Money amount={i.amount} currency={i.currency} /> : i.days > 0 ? f.number(i.days) : '') },
    { id: 'outcome', title: t.state, width: 260, wideOnly: true, cell: outcome },
  ]
  return (
    <Stack gap="md">
      <Facts
        of={[
          [t.about, batch.title || null],
          [t.state, t.states[batch.state]],
          [t.made, f.number(batch.made)],
          [t.stands, batch.stands < batch.made ? f.number(batch.stands) : null],
          [t.amount, batch.currency ? <Money key="amount" amount={batch.amount} currency={batch.currency} /> : null],
          [t.at, <span key="at"><When at={batch.askedAt} /> {batch.askedBy?.name ?? t.byClock}</span>],
        ]}
      />
      <UndoBatch id={batch.id} />
      <DataTable list={list} columns={columns} rowKey={(i) => i.id} label={t.made} empty={<Empty title={t.none} />} />
    </Stack>
  )
}

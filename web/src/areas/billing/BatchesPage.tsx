import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import { type Row, useRows } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { batchesText } from '../../text/batches'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { importsText } from '../../text/imports'
import { Confirm } from '../../ui/Confirm'
import { type Column, DataTable } from '../../ui/DataTable'
import { Empty } from '../../ui/Empty'
import { Money } from '../../ui/Money'
import { Page, Section } from '../../ui/Page'
import { PageLink } from '../../ui/PageLink'
import { State } from '../../ui/State'
import { undoSaid } from '../../ui/undoSaid'
import { When } from '../../ui/When'

type Batch = Row<'/batches'>
type Fuse = Shape<'FuseResponse'>

const pageOf = (b: Batch) => ({
  billing_run: `/billing-runs/${b.id}`, import: `/imports/${b.id}`, compensation: `/batches/${b.id}`,
  plan_move: `/batches/${b.id}`,
})[b.kind]

/** BatchesPage answers: what has changed many customers at once, who did it, and was it taken back? */
export default function BatchesPage() {
  const t = useText(batchesText)
  const f = useFormat()
  const list = useRows('/batches', {})
  const fuses = api.useQuery('get', '/fuses')
  const imports = useText(importsText)
  const about = (b: Batch) => {
    if (b.kind === 'billing_run') return f.date(b.title)
    if (b.kind !== 'import') return b.title || t.kinds[b.kind]
    return b.title ? ((imports.sources as Partial<Record<string, string>>)[b.title] ?? b.title) : imports.ownColumns
  }
  const columns: Column<Batch>[] = [
    { id: 'kind', title: t.kind, width: 150, narrow: 120, cell: (b) => <PageLink to={pageOf(b)}>{t.kinds[b.kind]}</PageLink> },
    { id: 'about', title: t.about, wideOnly: true, cell: about },
    {
      id: 'state', title: t.state, width: 190, narrow: 120,
      cell: (b) => <State tone={toneOf(b)}>{b.undo && b.state === 'finished' ? undoSaid(b, t, f) : t.states[b.state]}</State>,
    },
    { id: 'made', title: t.stands, width: 96, narrow: 84, figure: true, cell: (b) => f.number(b.stands) },
    { id: 'amount', title: t.amount, width: 150, figure: true, wideOnly: true, cell: (b) => (b.currency ? <Money amount={b.amount} currency={b.currency} /> : '') },
    { id: 'at', title: t.at, width: 210, wideOnly: true, cell: (b) => <><When at={b.askedAt} /> {b.askedBy?.name ?? t.byClock}</> },
  ]
  return (
    <Page title={t.batches} wide>
      {fuses.data?.data.filter((x) => x.held).map((x) => <Held key={x.id} of={x} />)}
      <DataTable list={list} columns={columns} rowKey={(b) => b.id} label={t.batches} empty={<Empty title={t.none}>{t.noneHint}</Empty>} />
    </Page>
  )
}

const toneOf = (b: Batch) =>
  b.state === 'held' || b.undo?.blocked ? 'attention' : (b.undo && b.stands === 0) || b.state !== 'finished' ? 'quiet' : 'good'

/** Held shows cuts or messages that wait for somebody, and what is different from before. */
function Held({ of: fuse }: { of: Fuse }) {
  const t = useText(batchesText)
  const f = useFormat()
  const may = useMay()
  const [releasing, setReleasing] = useState(false)
  const write = useWrite('post', '/fuses/{id}/release', { told: () => t.released, then: () => setReleasing(false) })
  const words = fuse.kind === 'cuts' ? t.cutsHeld : t.messagesHeld
  return (
    <Section title={f.date(fuse.date)}>
      <Stack gap="xs">
        <div role="status"><State tone="bad">{t.held}</State></div>
        <Text size="sm">{words(f.number(fuse.count), f.number(fuse.usual))}</Text>
        {may('POST /fuses/{id}/release') && (
          <Button style={{ alignSelf: 'start' }} onClick={() => setReleasing(true)}>{t.release[fuse.kind]}</Button>
        )}
      </Stack>
      {releasing && (
        <Confirm
          title={t.release[fuse.kind]}
          verb={t.release[fuse.kind]}
          reason
          pending={write.isPending}
          error={write.error}
          onConfirm={(reason) => write.mutate({ params: { path: { id: fuse.id } }, body: { reason } })}
          onClose={() => setReleasing(false)}
        >
          <Text size="sm">{t.releaseDoes[fuse.kind]}</Text>
        </Confirm>
      )}
    </Section>
  )
}

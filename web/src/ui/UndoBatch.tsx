import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/client'
import type { Shape } from '../api/types'
import { useWrite } from '../api/write'
import { useMay } from '../app/person'
import { batchesText } from '../text/batches'
import { useText } from '../text/catalogue'
import { useFormat } from '../text/format'
import { Confirm } from './Confirm'
import { CustomerLink } from './CustomerLink'
import { Facts } from './Facts'
import { ProblemNote } from './ProblemNote'
import { State } from './State'
import { undoSaid } from './undoSaid'
import { When } from './When'

type Batch = Shape<'UndoableBatchResponse'>
type Preview = Shape<'BatchPreviewResponse'>

/**
 * UndoBatch shows how far a batch is taken back, and lets an admin take it back after a preview. Its id is that of the
 * run, the import or the compensation. It shows nothing for a batch that is not finished.
 */
export function UndoBatch({ id }: { id: string }) {
  const t = useText(batchesText)
  const f = useFormat()
  const may = useMay()
  const [asking, setAsking] = useState(false)
  const read = api.useQuery('get', '/batches/{id}', { params: { path: { id } } }, {
    refetchInterval: (q) => (q.state.data?.undo?.state === 'running' ? 1500 : false),
  })
  const batch = read.data
  if (!batch || batch.state !== 'finished' || !may('GET /batches/{id}')) return null
  const { undo } = batch
  return (
    <Stack gap="sm">
      {undo && (
        <>
          <div role="status">
            <State tone={undo.state === 'running' ? 'quiet' : undo.blocked > 0 ? 'attention' : 'good'}>
              {undoSaid(batch, t, f)}
            </State>
          </div>
          <Facts
            of={[
              [t.at, <span key="at"><When at={batch.askedAt} /> {batch.askedBy?.name ?? t.byClock}</span>],
              [
                t.againAt,
                batch.againAt && <span key="again"><When at={batch.againAt} /> {batch.againBy?.name ?? t.byClock}</span>,
              ],
              [t.undone, f.number(undo.undone)],
              [t.credited[batch.kind], undo.credited > 0 ? f.number(undo.credited) : null],
              [t.blocked, undo.blocked > 0 ? f.number(undo.blocked) : null],
              [t.by, <span key="by">{undo.by?.name} <When at={undo.at} /></span>],
              [t.why, undo.reason],
            ]}
          />
        </>
      )}
      {batch.waiting > 0 && <Again of={batch} />}
      {batch.stands > 0 && undo?.state !== 'running' && may('POST /batches/{id}/undo') && (
        <Button variant="default" style={{ alignSelf: 'start' }} onClick={() => setAsking(true)}>{t.undoTitle[batch.kind]}</Button>
      )}
      {asking && <Ask of={batch} onClose={() => setAsking(false)} />}
    </Stack>
  )
}

/** Again has what an undo of a run took back billed again. */
function Again({ of: batch }: { of: Batch }) {
  const t = useText(batchesText)
  const may = useMay()
  const write = useWrite('post', '/billing/runs', { told: () => t.againDone })
  return (
    <>
      <Text size="sm">{t.waiting(batch.waiting)} {t.billedAgain}</Text>
      {may('POST /billing/runs') && (
        <Button
          variant="default"
          style={{ alignSelf: 'start' }}
          loading={write.isPending}
          onClick={() => write.mutate({ body: { date: batch.title } })}
        >
          {t.again}
        </Button>
      )}
      {write.error && <ProblemNote of={write.error} />}
    </>
  )
}

/** Ask shows what would be taken back and what not, and asks for the reason. */
function Ask({ of: batch, onClose }: { of: Batch; onClose: () => void }) {
  const t = useText(batchesText)
  const look = api.useQuery('post', '/batches/{id}/undo/preview', { params: { path: { id: batch.id } } })
  const write = useWrite('post', '/batches/{id}/undo', { told: () => t.asked, then: onClose })
  const preview = look.data && 'undone' in look.data ? look.data : undefined
  return (
    <Confirm
      title={t.undoTitle[batch.kind]}
      verb={t.undo}
      danger
      reason
      incomplete={!preview || preview.undone + preview.creditedCount === 0}
      pending={write.isPending}
      error={write.error ?? look.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: batch.id } }, body: { reason } })}
      onClose={onClose}
    >
      {preview ? <Told of={preview} kind={batch.kind} /> : <Text size="sm">{t.looking}</Text>}
    </Confirm>
  )
}

/** Told counts what would become of what the batch made, and names the first that would stay. */
function Told({ of, kind }: { of: Preview; kind: Batch['kind'] }) {
  const t = useText(batchesText)
  const f = useFormat()
  return (
    <Stack gap="xs">
      {of.undone + of.creditedCount === 0 && <Text size="sm">{t.nothing}</Text>}
      <Facts
        of={[
          [t.undone, f.number(of.undone)],
          [t.credited[kind], of.creditedCount > 0 ? f.number(of.creditedCount) : null],
          [t.billedAtOnce, of.billedAtOnce > 0 ? f.number(of.billedAtOnce) : null],
          [t.blocked, of.blockedCount > 0 ? f.number(of.blockedCount) : null],
        ]}
      />
      {of.looked < of.items && <Text size="sm">{t.lookedAt(f.number(of.looked), f.number(of.items))}</Text>}
      {of.blocked.length > 0 && (
        <ul>
          {of.blocked.slice(0, 10).map((b) => (
            <li key={b.id}><CustomerLink of={b.subscriber} /> {t.reasons[b.code ?? ''] ?? b.code}</li>
          ))}
        </ul>
      )}
      {kind === 'billing_run' && <Text size="sm" c="dimmed">{of.creditedCount > 0 && `${t.paidBack} `}{t.billedAgain}</Text>}
    </Stack>
  )
}

import type { Shape } from '../api/types'
import type { batchesText } from '../text/batches'

type Batch = Pick<Shape<'UndoableBatchResponse'>, 'made' | 'stands'> & {
  undo: Pick<NonNullable<Shape<'UndoableBatchResponse'>['undo']>, 'state'> | null
}
type Words = Pick<(typeof batchesText)['en'], 'undoRuns' | 'undoOver' | 'undoPart'>

/** undoSaid says how far a batch is taken back. It is taken back once nothing that it made stands, also of a second run. */
export function undoSaid(b: Batch, t: Words, f: { number: (n: number) => string }): string {
  if (b.undo?.state === 'running') return t.undoRuns
  return b.stands === 0 ? t.undoOver : t.undoPart(f.number(b.made - b.stands), f.number(b.made))
}

import type { Shape } from '../../api/types'

/** Move is one move of a receipt from an account to another. */
export type Move = Shape<'ReceiptDetailResponse'>['moves'][number]

/** moveOf finds the move that an entry of the audit log is about: both have the instant at which it was decided. */
export function moveOf<M extends Pick<Move, 'at'>>(moves: M[], entry: { action: string; at: string }): M | undefined {
  if (entry.action !== 'payments.ReattributeReceipt') return undefined
  // A log that was read again may have cut what is finer than a microsecond.
  return moves.find((m) => Date.parse(m.at) === Date.parse(entry.at))
}

import type { useFormat } from '../../text/format'
import type { reconciliationsText } from '../../text/reconciliations'

/** spanOf writes the days of a statement. */
export function spanOf(
  r: { from: string; to: string }, t: (typeof reconciliationsText)['en'], f: ReturnType<typeof useFormat>,
): string {
  const [from, to] = [f.date(r.from), f.date(r.to)]
  return from === to ? from : t.span(from, to)
}

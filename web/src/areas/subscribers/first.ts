import type { Rows } from '../../api/rows'

/** firstOf leaves only the first rows of a list, for a page that has the others elsewhere. */
export function firstOf<R>(list: Rows<R>, count: number | undefined): Rows<R> {
  if (count === undefined) return list
  return { ...list, rows: list.rows.slice(0, count), hasMore: list.hasMore || list.rows.length > count, more: () => undefined }
}

import type { Rows } from '../api/rows'
import type { Read } from './Loaded'

/** wholeList shows what was read in one call as the rows of a DataTable. */
export function wholeList<Data, R>(read: Read<Data>, rowsOf: (data: Data) => R[]): Rows<R> {
  return {
    rows: read.data === undefined ? [] : rowsOf(read.data),
    hasMore: false,
    isPending: read.isPending,
    isFetchingMore: false,
    error: read.error,
    more: () => undefined,
    refetch: () => void read.refetch(),
    changes: 0,
  }
}

import type { Shape } from '../../api/types'

/** Fault is what is wrong with a row. */
export type Fault = Shape<'RowFault'>

/** failedRows counts the rows with faults: neither taken in nor of customers who are here already. */
export const failedRows = (of: Pick<Shape<'DryRunResponse'>, 'rows' | 'valid' | 'skipped'>) => of.rows - of.valid - of.skipped

/** columnOf names the column as the file does, since that is what a person looks for; ours where the file's is not known. */
export const columnOf = (fault: Fault) => fault.column ?? fault.field

/** faultTable has the faults below the titles of its columns, for a file. */
export const faultTable = (titles: string[], faults: Fault[]) =>
  [titles, ...faults.map((each) => [String(each.row), columnOf(each), each.message])]

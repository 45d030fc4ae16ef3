import { client } from '../../api/client'
import type { Shape } from '../../api/types'

/** DryRun tells what an import of a file would do. */
export type DryRun = Shape<'DryRunResponse'>

/** Import is an import and its progress. */
export type Import = Shape<'ImportResponse'>

/** sources are the systems whose own columns are understood, beside ours. */
export const sources = ['phpnuxbill', 'daloradius', 'radiusdesk'] as const

/** Source is one of them; null = our own columns. */
export type Source = (typeof sources)[number] | null

/** upload sends a file as it is. */
async function upload(file: File, source: Source, dryRun: boolean): Promise<unknown> {
  const { data } = await client.POST('/imports/subscribers', {
    params: { query: { ...(source ? { source } : {}), ...(dryRun ? { dryRun } : {}) } },
    body: file as unknown as string,
    bodySerializer: (body: unknown) => body as BodyInit,
    headers: { 'Content-Type': 'text/csv' },
  })
  return data
}

/** check tells the faults of a file and changes nothing. */
export const check = async (file: File, source: Source) => (await upload(file, source, true)) as DryRun

/** start begins the import of a file. */
export const start = async (file: File, source: Source) => (await upload(file, source, false)) as Import

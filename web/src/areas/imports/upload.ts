import { client } from '../../api/client'
import type { Shape } from '../../api/types'
import { type Answers, queryOf } from './answers'

/** DryRun tells what an import of a file would do. */
export type DryRun = Shape<'DryRunResponse'>

/** Import is an import and its progress. */
export type Import = Shape<'ImportResponse'>

/** sources are the systems whose own columns are understood, beside ours. */
export const sources = ['phpnuxbill', 'daloradius', 'radiusdesk'] as const

/** Source is one of them; null = our own columns. */
export type Source = (typeof sources)[number] | null

/** upload sends a file as it is. A proposal has the passwords of customers whom a router knew. */
async function upload(file: Blob, source: Source, dryRun: boolean, answers: Answers, proposal?: string): Promise<unknown> {
  const { data } = await client.POST('/imports/subscribers', {
    params: { query: { ...(source ? { source } : {}), ...(proposal ? { proposal } : {}), ...(dryRun ? { dryRun } : {}), ...queryOf(answers) } },
    body: file as unknown as string,
    bodySerializer: (body: unknown) => body as BodyInit,
    headers: { 'Content-Type': 'text/csv' },
  })
  return data
}

/** check tells the faults of a file and changes nothing. */
export const check = async (file: Blob, source: Source, answers: Answers, proposal?: string) =>
  (await upload(file, source, true, answers, proposal)) as DryRun

/** start begins the import of a file. */
export const start = async (file: Blob, source: Source, answers: Answers, proposal?: string) =>
  (await upload(file, source, false, answers, proposal)) as Import

/** tableOf fetches the customers of a proposal as a file of an import. */
export async function tableOf(id: string): Promise<Blob> {
  const { data } = await client.GET('/import-proposals/{id}/file', { params: { path: { id } }, parseAs: 'blob' })
  return data as unknown as Blob
}

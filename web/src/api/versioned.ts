import { useQuery } from '@tanstack/react-query'
import type { FetchResponse, MaybeOptionalInit } from 'openapi-fetch'
import type { PathsWithMethod } from 'openapi-typescript-helpers'
import { readUntilRead } from './again'
import { client } from './client'
import type { paths } from './schema.gen'

/** One is what the API answers when it is asked for one thing. */
type One<P extends PathsWithMethod<paths, 'get'>> = paths[P] extends { get: infer Operation }
  ? NonNullable<FetchResponse<Operation & Record<string | number, unknown>, object, 'application/json'>['data']>
  : never

/** Versioned is a thing with its revision, as If-Match takes it; null = the API gave none. */
export interface Versioned<V> {
  value: V
  etag: string | null
}

/** ifUnchanged gives the header of a write that the server refuses (412) when the thing has changed since it was read. */
export const ifUnchanged = (etag: string | null): { 'If-Match'?: string } => (etag === null ? {} : { 'If-Match': etag })

/** useVersioned reads one thing with its revision, for a form that changes it: see ui/useEdited.ts. */
export function useVersioned<P extends PathsWithMethod<paths, 'get'>>(
  path: P,
  init: MaybeOptionalInit<paths[P], 'get'>,
  options: { refetchInterval?: (read: One<P> | undefined) => number | false; gcTime?: number } = {},
) {
  return useQuery({
    queryKey: ['get', path, init, 'versioned'],
    ...(options.gcTime === undefined ? {} : { gcTime: options.gcTime }),
    queryFn: async ({ signal }): Promise<Versioned<One<P>>> => {
      // The client's own types cannot be followed through a type parameter.
      const get = client.GET as (...a: unknown[]) => Promise<{ data: unknown; response: Response }>
      const { data, response } = await get(path, { ...init, signal })
      return { value: data as One<P>, etag: response.headers.get('ETag') }
    },
    refetchInterval: (q) => readUntilRead(q) || (options.refetchInterval?.(q.state.data?.value) ?? false),
  })
}

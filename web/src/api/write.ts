import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FetchResponse, MaybeOptionalInit } from 'openapi-fetch'
import type { PathsWithMethod } from 'openapi-typescript-helpers'
import { useRef } from 'react'
import { client } from './client'
import { asProblem, type Problem } from './problem'
import type { paths } from './schema.gen'

type Method = 'post' | 'put' | 'patch' | 'delete'

/** Sent is what a write takes: its parameters and its body. */
export type Sent<M extends Method, P extends PathsWithMethod<paths, M>> = MaybeOptionalInit<paths[P], M>

/** Answer is what a write answers with. */
export type Answer<M extends Method, P extends PathsWithMethod<paths, M>> = paths[P] extends Record<M, infer Operation>
  ? NonNullable<FetchResponse<Operation & Record<string | number, unknown>, object, 'application/json'>['data']>
  : never

/** After says what a page does when a write has succeeded. */
export interface After<A> {
  /** told gives the sentence that says what was done; undefined = nothing is told. */
  told?: (answer: A) => string
  /** then is what the page does next, such as closing a dialog. */
  then?: (answer: A) => void
}

/**
 * useWrite makes a write. The same write that is tried again, after a lost answer or by a second click, carries the
 * same idempotency key and so acts once. After it, everything that the page shows is read again.
 */
export function useWrite<M extends Method, P extends PathsWithMethod<paths, M>>(
  method: M,
  path: P,
  after: After<Answer<M, P>> = {},
) {
  const queries = useQueryClient()
  const tried = useRef<{ what: string; key: string } | null>(null)
  const running = useRef(new Set<string>())
  const write = useMutation<Answer<M, P>, Problem, Sent<M, P>>({
    mutationFn: async (sent) => {
      const what = JSON.stringify(sent)
      if (tried.current?.what !== what) tried.current = { what, key: crypto.randomUUID() }
      const init = { ...(sent as object), headers: { ...(sent as { headers?: object }).headers, 'Idempotency-Key': tried.current.key } }
      try {
        // The client's own types cannot be followed through two type parameters
        const { data } = await (client.request as (...a: unknown[]) => Promise<{ data: unknown }>)(method, path, init)
        tried.current = null
        return data as Answer<M, P>
      } catch (cause) {
        const problem = asProblem(cause)
        // A refusal has done nothing, and the next try is a new one. Anything else may have been done.
        if (problem.status >= 400 && problem.status < 500) tried.current = null
        throw problem
      }
    },
    onSuccess: async (answer) => {
      const text = after.told?.(answer)
      if (text) notifications.show({ message: text, color: 'teal', autoClose: 6000 })
      await queries.invalidateQueries({ refetchType: 'active' })
      after.then?.(answer)
    },
    onSettled: (_answer, _problem, sent) => {
      running.current.delete(JSON.stringify(sent))
    },
  })
  // The second click of two can come before the page has drawn that the first one is at work.
  const mutate: typeof write.mutate = (...asked) => {
    const what = JSON.stringify(asked[0])
    if (running.current.has(what)) return
    running.current.add(what)
    write.mutate(...asked)
  }
  return { ...write, mutate }
}

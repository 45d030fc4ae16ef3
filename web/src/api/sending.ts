import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FetchResponse, MaybeOptionalInit } from 'openapi-fetch'
import type { PathsWithMethod } from 'openapi-typescript-helpers'
import { useRef } from 'react'
import { client } from './client'
import { Keys } from './keys'
import { asProblem, type Problem } from './problem'
import type { paths } from './schema.gen'

/** Method is that of a write. */
export type Method = 'post' | 'put' | 'patch' | 'delete'

/** Sent is what a write takes: its parameters and its body. */
type Sent<M extends Method, P extends PathsWithMethod<paths, M>> = MaybeOptionalInit<paths[P], M>

/** Answer is what a write answers with. */
export type Answer<M extends Method, P extends PathsWithMethod<paths, M>> = paths[P] extends Record<M, infer Operation>
  ? NonNullable<FetchResponse<Operation & Record<string | number, unknown>, object, 'application/json'>['data']>
  : never

/** Done says what a page does when a write has succeeded. */
export interface Done<A> {
  /** tell says to the person what was done. A write that is not shown yet is told of as such. */
  tell?: (answer: A, shown: boolean) => void
  /** then is what the page does next, at once, such as closing a dialog. */
  then?: (answer: A) => void
  /** shown is what a page does when it has read again what it shows, such as forgetting what was typed into a form that stays. */
  shown?: (answer: A) => void
}

/** isNotShown tells the answer to a write that is saved, while the read side does not show it yet. */
export const isNotShown = (answer: unknown): answer is { id: string; status: 'accepted' } =>
  typeof answer === 'object' && answer !== null && Object.keys(answer).sort().join() === 'id,status'
  && (answer as { status: unknown }).status === 'accepted'

/** waitsFor gives the approval that an act waits for, which is not done before a second person agrees. */
export const waitsFor = (answer: unknown) => (answer as { approvalId?: string } | undefined)?.approvalId

// A dialog that is closed and opened again has the keys of before.
const keys = new Keys()

// The first try that is still at work is waited for, as long as the server holds its key.
const waits = { between: 2_000, atMost: 70_000 }

/**
 * useSending makes a write. The same write that is tried again, after a lost answer or by a second click, carries the
 * same idempotency key and so acts once. After it, everything that the page shows is read again.
 */
export function useSending<M extends Method, P extends PathsWithMethod<paths, M>>(
  method: M,
  path: P,
  after: Done<Answer<M, P>> = {},
) {
  const queries = useQueryClient()
  const running = useRef(new Set<string>())
  const write = useMutation<Answer<M, P>, Problem, Sent<M, P>>({
    mutationFn: async (sent) => {
      const what = JSON.stringify([method, path, sent])
      const key = keys.of(what)
      const init = { ...(sent as object), headers: { ...(sent as { headers?: object }).headers, 'Idempotency-Key': key } }
      for (const began = Date.now(); ; ) {
        try {
          // The client's own types cannot be followed through two type parameters
          const { data } = await (client.request as (...a: unknown[]) => Promise<{ data: unknown }>)(method, path, init)
          keys.ended(what, key, null)
          return data as Answer<M, P>
        } catch (cause) {
          const problem = asProblem(cause)
          keys.ended(what, key, problem)
          if (problem.code !== 'idempotency_key_running' || Date.now() - began > waits.atMost) throw problem
          await new Promise((done) => setTimeout(done, waits.between))
        }
      }
    },
    onSuccess: async (answer) => {
      after.tell?.(answer, !isNotShown(answer))
      after.then?.(answer)
      await queries.invalidateQueries({ refetchType: 'active' })
      after.shown?.(answer)
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

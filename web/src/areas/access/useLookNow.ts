import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client'
import type { Shape } from '../../api/types'
import { serverNow } from '../../app/clock'

/** Asked is a look that was asked for: which routers, since when, and when the last of them has its turn. */
interface Asked {
  at: number
  devices: string[]
  until: number
}

/** Progress of a look: of all routers so many are left; it is over when none is, or those left do not answer. */
interface Progress {
  all: number
  left: number
  over: boolean
}

// A router that has not been compared so long after its turn does not answer.
const patience = 30_000

/** useLookNow has routers looked at, and follows how many of them have been compared since. */
export function useLookNow() {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<Asked | null>(null)
  const ask = useMutation({
    mutationFn: async (deviceId: string | undefined) => {
      const at = serverNow()
      const { data } = await client.POST('/access-audits', { body: deviceId ? { deviceId } : {} })
      return { at, answer: data as Shape<'AuditResponse'> }
    },
    onSuccess: ({ at, answer }) => {
      setAsked({ at, devices: answer.deviceIds, until: Date.parse(answer.lastBeginsAt) + patience })
    },
  })
  const followed = useQuery<Progress | null>({
    queryKey: ['looks', asked?.at],
    enabled: asked !== null,
    refetchInterval: ({ state: { data } }) => (data?.over ? false : 2_000),
    queryFn: async ({ signal }) => {
      if (!asked) return null
      const left = await unseen(asked, signal)
      const over = left === 0 || serverNow() > asked.until
      if (over) {
        void queries.invalidateQueries({ predicate: ({ queryKey }) => /^\/access-/.test(String(queryKey[1])) })
      }
      return { all: asked.devices.length, left, over }
    },
  })
  const progress: Progress | null = asked && (followed.data ?? { all: asked.devices.length, left: asked.devices.length, over: false })
  return {
    look: (deviceId: string | undefined) => ask.mutate(deviceId),
    progress,
    pending: ask.isPending || (progress !== null && !progress.over && !followed.error),
    error: ask.error ?? followed.error,
  }
}

/** unseen counts the routers that have not been compared since they were asked for. */
async function unseen(asked: Asked, signal: AbortSignal): Promise<number> {
  const waiting = new Set(asked.devices)
  let cursor: string | undefined
  do {
    const { data } = await client.GET('/access-audits', { params: { query: { limit: 100, cursor } }, signal })
    for (const l of data?.data ?? []) {
      if (l.lookedAt && Date.parse(l.lookedAt) >= asked.at) waiting.delete(l.deviceId)
    }
    cursor = data?.nextCursor ?? undefined
  } while (cursor && waiting.size > 0)
  return waiting.size
}

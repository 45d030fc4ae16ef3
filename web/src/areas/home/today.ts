import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { client } from '../../api/client'
import type { Shape } from '../../api/types'
import { usePerson } from '../../app/person'
import { serverNow } from '../../app/clock'
import { pauseOf } from './pause'
import { keepVisit, looked, readVisit } from './visit'

export type Today = Shape<'TodayResponse'>
export type Fault = Today['faults'][number]

/** Platform is what the root host answers at the same address. */
export type Platform = Shape<'PlatformResponse'>

async function read(since: string | undefined, signal: AbortSignal): Promise<unknown> {
  const { data } = await client.GET('/reports/today', { params: { query: { since } }, signal })
  return data
}

const often = { placeholderData: keepPreviousData, refetchInterval: pauseOf }

/** useToday reads how the organization does, and what changed since an instant. */
export function useToday(since: number | null) {
  const at = since === null ? undefined : new Date(since).toISOString()
  return useQuery({
    queryKey: ['get', '/reports/today', { params: { query: { since: at } } }],
    queryFn: async ({ signal }) => (await read(at, signal)) as Today,
    ...often,
  })
}

/** usePlatform reads how the platform does. */
export function usePlatform() {
  return useQuery({
    queryKey: ['get', '/reports/today', {}],
    queryFn: async ({ signal }) => (await read(undefined, signal)) as Platform,
    ...often,
  })
}

/** useSince gives the end of this person's visit before this one, and notes that somebody looks now. */
export function useSince(): number | null {
  const person = usePerson().me.id ?? ''
  const [visit] = useState(() => looked(readVisit(person), serverNow()))
  useEffect(() => {
    const note = () => {
      if (!document.hidden) keepVisit(person, { since: visit.since, seen: serverNow() })
    }
    note()
    const timer = setInterval(note, 60_000)
    return () => clearInterval(timer)
  }, [person, visit])
  return visit.since
}

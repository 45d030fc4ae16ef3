import { useState } from 'react'
import { client } from '../../api/client'
import { asProblem, type Problem } from '../../api/problem'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import type { Policies } from './policy'

/**
 * useSavePolicies changes the policies as they are at this moment: the API takes all named ones together, so one that
 * a colleague has changed meanwhile is read before.
 */
export function useSavePolicies(told: string, then?: () => void) {
  const [failed, setFailed] = useState<Problem | null>(null)
  const [reading, setReading] = useState(false)
  const write = useWrite('put', '/settings/dunning', { told: () => told, then })
  const save = async (change: (now: Policies) => Shape<'DunningRequest'>) => {
    setFailed(null)
    setReading(true)
    try {
      const { data } = await client.GET('/settings/dunning')
      if (data) write.mutate({ body: change(data) })
    } catch (cause) {
      setFailed(asProblem(cause))
    } finally {
      setReading(false)
    }
  }
  return { save, pending: reading || write.isPending, error: failed ?? write.error }
}

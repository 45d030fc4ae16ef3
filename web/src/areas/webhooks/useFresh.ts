import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isLong } from '../../api/rows'

// No change tells of a delivery: attempts are no events. So often a list of them is read again that may change.
const pause = 5_000

/** useFresh has a list of deliveries read again while its page is open. */
export function useFresh(of: readonly unknown[] | undefined) {
  const queries = useQueryClient()
  const key = JSON.stringify(of ?? [])
  useEffect(() => {
    const timer = setInterval(() => {
      const queryKey = JSON.parse(key) as unknown[]
      // Who reads far down in it is left alone.
      if (!document.hidden && !isLong(queries.getQueryData(queryKey))) void queries.invalidateQueries({ queryKey, exact: true })
    }, pause)
    return () => clearInterval(timer)
  }, [queries, key])
}

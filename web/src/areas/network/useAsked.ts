import { asProblem } from '../../api/problem'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'

/**
 * useAsked makes a read from a router one that a person can ask for again: a router that was silent is left alone for up
 * to ten minutes, and only a ping is sent to it meanwhile. So it is pinged first; then all that the page shows is read.
 */
export function useAsked<R extends { error: unknown; refetch: () => unknown }>(device: string, read: R): R & { asking: boolean } {
  const may = useMay()
  const ping = useWrite('post', '/nas/devices/{id}/ping')
  const refetch = () => {
    const silent = read.error && asProblem(read.error).code === 'device_unreachable'
    if (!silent || !may('POST /nas/devices/{id}/ping')) return read.refetch()
    return ping.mutate({ params: { path: { id: device } } }, { onError: () => void read.refetch() })
  }
  return { ...read, refetch, asking: ping.isPending }
}

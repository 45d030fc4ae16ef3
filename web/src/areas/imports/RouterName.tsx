import { api } from '../../api/client'
import { RouterLink } from '../../ui/RouterLink'

/** RouterName names a router whose id alone is known. */
export function RouterName({ id }: { id: string }) {
  const read = api.useQuery('get', '/nas/devices/{id}', { params: { path: { id } } })
  return <RouterLink id={id} name={read.data?.name ?? null} />
}

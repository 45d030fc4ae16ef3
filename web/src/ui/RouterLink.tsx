import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay } from '../app/person'

/** RouterLink names a router, and leads to it for those who may see routers. */
export function RouterLink({ id, name }: { id: string | null; name: string | null }) {
  const may = useMay()
  if (!id) return <Text span inherit c="dimmed">–</Text>
  const to: string = `/routers/${id}`
  return may('GET /nas/devices/{id}') ? <Link to={to}>{name ?? id}</Link> : <>{name ?? id}</>
}

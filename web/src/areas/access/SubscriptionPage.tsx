import { Navigate, useParams } from '@tanstack/react-router'
import { api } from '../../api/client'
import { Loaded } from '../../ui/Loaded'

/** SubscriptionPage leads from a subscription to its customer: rows that know only the subscription link here. */
export default function SubscriptionPage() {
  const { id } = useParams({ from: '/subscriptions/$id' })
  const read = api.useQuery('get', '/subscriptions/{id}', { params: { path: { id } } })
  return (
    <Loaded read={read} height={120}>
      {(s) => <Navigate to="/customers/$id" params={{ id: s.subscriberId }} replace />}
    </Loaded>
  )
}

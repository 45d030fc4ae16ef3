import { useParams } from '@tanstack/react-router'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { subscribersText } from '../../text/subscribers'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { nameOf } from './CustomersPage'

/** CustomerPage answers about one customer: why, and what now? */
export default function CustomerPage() {
  const t = useText(subscribersText)
  const { id } = useParams({ from: '/customers/$id' })
  const customer = api.useQuery('get', '/subscribers/{id}', { params: { path: { id } } })
  return (
    <Page title={customer.data ? nameOf(customer.data, t) : ''}>
      <Loaded read={customer} height={120}>{(c) => <>{c.accountNumber}</>}</Loaded>
    </Page>
  )
}

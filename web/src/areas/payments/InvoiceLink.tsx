import { Link } from '@tanstack/react-router'
import { api } from '../../api/client'
import { useText } from '../../text/catalogue'
import { paymentsText } from '../../text/payments'

/** InvoiceLink leads to an invoice of which a row has the id alone. */
export function InvoiceLink({ id }: { id: string }) {
  const t = useText(paymentsText)
  const { data } = api.useQuery('get', '/invoices/{id}', { params: { path: { id } } })
  return <Link to="/invoices/$id" params={{ id }}>{data?.number ?? t.invoice}</Link>
}

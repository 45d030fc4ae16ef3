import { api } from '../../api/client'

/** useRefunds reads the refunds of a receipt. */
export function useRefunds(receipt: { id: string }) {
  return api.useQuery('get', '/refunds', { params: { query: { receiptId: receipt.id, limit: 100 } } })
}

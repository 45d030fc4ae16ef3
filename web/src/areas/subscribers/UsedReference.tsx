import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { takingText } from '../../text/taking'
import { CustomerLink } from '../../ui/CustomerLink'
import { usedReceipt } from './usedReceipt'

/** UsedReference tells which money has the reference already, so that who took cash sees whether it is the same. */
export function UsedReference({ of }: { of: Problem }) {
  const t = useText(takingText)
  const f = useFormat()
  const receipt = usedReceipt(of)
  if (!receipt) return null
  const { amount, currency, paidAt, receiptNumber, subscriber } = receipt
  return (
    <Text size="sm">
      <Link to="/receipts/$id" params={{ id: receipt.id }}>{t.usedReceipt(receiptNumber)}</Link>
      {`: ${f.money(amount, currency)}, ${f.day(paidAt)}, `}
      {subscriber ? <CustomerLink of={subscriber} account /> : t.usedByNobody}
    </Text>
  )
}

import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Shape } from '../api/types'
import { catalogue, useText } from '../text/catalogue'

const texts = catalogue({ forgotten: 'Forgotten person' }, { forgotten: 'Mtu aliyesahaulika' })

/** CustomerLink leads to the customer to whom a row belongs; a dash when it belongs to nobody. */
export function CustomerLink({ of, account }: {
  of: Shape<'SubscriberRef'> | null | undefined
  /** account adds the account number. */
  account?: boolean
}) {
  const t = useText(texts)
  if (!of) return <Text span inherit c="dimmed">–</Text>
  return (
    <>
      <Link to="/customers/$id" params={{ id: of.id }}>{of.name ?? t.forgotten}</Link>
      {account && <Text span inherit c="dimmed"> {of.accountNumber}</Text>}
    </>
  )
}

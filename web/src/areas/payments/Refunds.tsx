import { List, Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { refundsText } from '../../text/refunds'
import { Money } from '../../ui/Money'
import { Section } from '../../ui/Page'
import { When } from '../../ui/When'
import { RefundNext, RefundState, toldOf } from './refund'
import { useRefunds } from './useRefunds'
import type { ReceiptRow } from './words'

/** Refunds lists the refunds of a receipt with what to do next; a receipt without any shows nothing. */
export function Refunds({ of: r }: { of: ReceiptRow }) {
  const t = useText(refundsText)
  const read = useRefunds(r)
  if (!read.data || read.data.data.length === 0) return null
  return (
    <Section title={t.refunds}>
      <List size="sm" listStyleType="none" spacing="xs">
        {read.data.data.map((refund) => (
          <List.Item key={refund.id} style={{ overflowWrap: 'anywhere' }}>
            <RefundState of={refund} /> · <Money amount={refund.amount} currency={refund.currency} /> ·{' '}
            <When at={refund.requestedAt} exact />
            {toldOf(refund, t).map((words) => <Text span inherit key={words}> · {words}</Text>)}
            <RefundNext of={refund} />
          </List.Item>
        ))}
      </List>
    </Section>
  )
}

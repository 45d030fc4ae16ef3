import { List, Text } from '@mantine/core'
import { api } from '../../api/client'
import { actionName } from '../../text/actionName'
import { actionText } from '../../text/actions'
import { useText } from '../../text/catalogue'
import { paymentsText } from '../../text/payments'
import { Loaded } from '../../ui/Loaded'
import { To } from '../../ui/To'
import { When } from '../../ui/When'

/**
 * Doings lists what people did with a receipt, with time, name and reason, the newest first. It is read of the audit
 * log, which a receipt's own answer has nothing of.
 */
export function Doings({ receiptId }: { receiptId: string }) {
  const t = useText(paymentsText)
  const actions = useText(actionText)
  const target = `receipt:${receiptId}`
  // No change of the log is told to the pages.
  const read = api.useQuery('get', '/audit-log', { params: { query: { target, limit: 100 } } }, { refetchInterval: 10_000 })
  return (
    <Loaded read={read} height={40}>
      {(log) => {
        const byPeople = log.data.filter((e) => e.actor.kind === 'user' && e.outcome === 'succeeded')
        return (
          <>
            {byPeople.length === 0 && <Text size="sm" c="dimmed">{t.doingsNone}</Text>}
            <List size="sm" listStyleType="none">
              {byPeople.map((e) => (
                <List.Item key={e.id} style={{ overflowWrap: 'anywhere' }}>
                  <When at={e.at} exact /> · <To way={{ to: '/audit', search: { target, entry: e.id } }}>{actionName(e.action, actions)}</To>
                  {' '}· {e.actor.name ?? t.formerStaff}{e.detail.reason && ` · ${e.detail.reason}`}
                </List.Item>
              ))}
            </List>
            <Text size="sm"><To way={{ to: '/audit', search: { target } }}>{t.doingsAll}</To></Text>
          </>
        )
      }}
    </Loaded>
  )
}

import { Alert, Anchor, List, Stack, Text } from '@mantine/core'
import { useEffect } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { forgettingText, type Obstacle } from '../../text/forgetting'
import { subscribersText } from '../../text/subscribers'
import { Confirm } from '../../ui/Confirm'
import { TriangleAlert } from '../../ui/icons'
import { Loaded } from '../../ui/Loaded'
import { PageLink } from '../../ui/PageLink'
import { wayOf } from './obstacles'
import { type Customer, nameOf } from './words'

/** Forget says what is erased and what remains, what has to be settled first, and forgets a customer for good. */
export function Forget({ of: c, onClose }: { of: Customer; onClose: () => void }) {
  const t = useText(forgettingText)
  const words = useText(subscribersText)
  const of = { params: { path: { id: c.id } } }
  const read = api.useQuery('get', '/subscribers/{id}/forget', of, { staleTime: 0 })
  const write = useWrite('post', '/subscribers/{id}/forget', { told: () => t.done, then: onClose })
  const { refetch } = read
  // What the server refuses for has come up since it was asked.
  useEffect(() => {
    if (write.error) void refetch()
  }, [write.error, refetch])
  const open = read.data?.open
  return (
    <Confirm
      title={t.title(nameOf(c, words))}
      verb={t.verb}
      danger
      reason
      typed={c.accountNumber}
      incomplete={open?.length !== 0}
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ ...of, body: { reason } })}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm" fw={600}>{t.cannot}</Text>
        <List size="sm" spacing={4}>
          {[t.goes, t.stays, t.later, t.give, t.reasonHint].map((says) => <List.Item key={says}>{says}</List.Item>)}
        </List>
        <Loaded read={read} height={24}>
          {({ open }) => open.length > 0 && <Obstacles id={c.id} of={open} onLeave={onClose} />}
        </Loaded>
      </Stack>
    </Confirm>
  )
}

/** Obstacles lists what has to be settled, each with the way to it. */
function Obstacles({ id, of: open, onLeave }: { id: string; of: Obstacle[]; onLeave: () => void }) {
  const t = useText(forgettingText)
  return (
    <Alert color="yellow" variant="light" icon={<TriangleAlert size={18} aria-hidden />} role="status" p="sm">
      <Text size="sm" fw={600} mb={4}>{t.waits}</Text>
      <List size="sm" spacing={4}>
        {open.map((each) => (
          <List.Item key={each}>
            {t.open[each]}{' '}
            <span onClick={onLeave}>
              <Anchor inherit underline="always" renderRoot={(props) => <PageLink {...props} {...wayOf(each, id)} />}>{t.to[each]}</Anchor>
            </span>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

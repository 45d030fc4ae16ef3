import { Text } from '@mantine/core'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { outageTellingText } from '../../text/outageTelling'
import { Confirm } from '../../ui/Confirm'

/** TellOutage says how many customers hear of an outage, and tells them. */
export function TellOutage({ of: o, onClose }: { of: Shape<'OutageResponse'>; onClose: () => void }) {
  const t = useText(outageTellingText)
  const write = useWrite('post', '/outages/{id}/tell', { told: () => t.tellDone, then: onClose })
  return (
    <Confirm
      title={t.tellThem}
      verb={t.tellThem}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => write.mutate({ params: { path: { id: o.id } } })}
      onClose={onClose}
    >
      <Text size="sm">{t.tellDoes(o.customers ?? 0)}</Text>
    </Confirm>
  )
}

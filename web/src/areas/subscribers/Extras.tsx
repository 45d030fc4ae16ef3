import { ActionIcon, Group, Stack, Text } from '@mantine/core'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { extrasText } from '../../text/extras'
import { useFormat } from '../../text/format'
import { isolated } from '../../text/isolated'
import { X } from '../../ui/icons'
import { useDo } from './doing'
import { type ExtraKind, extraKinds } from './extraKinds'

// What a person must be allowed to, to remove one.
const removeNeeds = {
  charges: 'DELETE /subscriptions/{id}/charges/{extraId}',
  'add-ons': 'DELETE /subscriptions/{id}/add-ons/{extraId}',
  discounts: 'DELETE /subscriptions/{id}/discounts/{extraId}',
} as const

type Extra = Shape<'ExtraResponse'>
type Held = { kind: ExtraKind; of: Extra }

/** Extras are what the next invoices of a service have beside the price of its plan; nothing without any. */
export function Extras({ id, plan }: { id: string; plan: string }) {
  const t = useText(extrasText)
  const may = useMay()
  const begin = useDo()
  const service = api.useQuery('get', '/subscriptions/{id}', { params: { path: { id } } }).data
  const held = service ? extraKinds.flatMap((kind) => rowsOf(service, kind).filter(coming).map((of): Held => ({ kind, of }))) : []
  if (held.length === 0) return null
  return (
    <Stack gap={2} mt="xs">
      <Text size="sm" c="dimmed">{t.label}</Text>
      <Stack component="ul" gap={2} m={0} p={0} aria-label={`${t.label}: ${plan}`} style={{ listStyle: 'none' }}>
        {held.map((h) => (
          <Group key={h.of.id} component="li" gap="xs" justify="space-between" wrap="nowrap">
            <Text size="sm">{isolated(h.of.description)}: <Worth of={h} /></Text>
            {may(removeNeeds[h.kind]) && (
              <ActionIcon size="sm" variant="subtle" color="gray" aria-label={t.remove(h.of.description)} onClick={() => begin({ act: 'remove_extra', subscriptionId: id, kind: h.kind, extra: h.of })}>
                <X size={14} aria-hidden />
              </ActionIcon>
            )}
          </Group>
        ))}
      </Stack>
    </Stack>
  )
}

function rowsOf(s: Shape<'SubscriptionResponse'>, kind: ExtraKind): Extra[] {
  return { charges: s.charges, 'add-ons': s.addOns, discounts: s.discounts }[kind] ?? []
}

const coming = (x: Extra) => x.state === 'waiting' || x.state === 'active'

function Worth({ of: { kind, of: x } }: { of: Held }) {
  const t = useText(extrasText)
  const f = useFormat()
  const worth = x.percent === null ? f.money(x.amount ?? 0, x.currency) : `${x.percent} %`
  const says = { charges: t.once, 'add-ons': t.each, discounts: t.off }[kind](worth)
  const parts = [
    says, kind !== 'charges' && x.periods !== null && t.left(x.invoiced, x.periods), x.until !== null && t.to(f.day(x.until)),
  ]
  return parts.filter(Boolean).join(', ')
}

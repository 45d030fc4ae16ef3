import { Anchor, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { customerText } from '../../text/customer'
import { useFormat } from '../../text/format'
import { Confirm } from '../../ui/Confirm'
import { Loaded } from '../../ui/Loaded'
import { addressOf } from './words'

type Invoice = Shape<'EndingResponse'>['staysDue'][number]

/** EndService ends a service for good, and says before which of its invoices stay due and which are voided. */
export function EndService({ id, plan, onClose }: { id: string; plan: string; onClose: () => void }) {
  const t = useText(customerText)
  // Money that came since the dialog was opened before makes another sentence true, and no change tells of it by this id.
  const ending = api.useQuery('get', '/subscriptions/{id}/end', { params: { path: { id } } }, { gcTime: 0, staleTime: 0 })
  const write = useWrite('post', '/subscriptions/{id}/end', { told: () => t.did.end, then: onClose })
  return (
    <Confirm
      title={t.end}
      verb={t.end}
      danger
      typed={plan}
      reason
      incomplete={ending.isPending}
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id } }, body: { reason } })}
      onClose={onClose}
    >
      <Text size="sm">{t.endDoes(plan)}</Text>
      <Loaded read={ending} height={40}>
        {({ staysDue, voided, credited, charged }) => (
          <>
            {staysDue.length + voided.length + credited.length + charged.length === 0 && <Text size="sm">{t.endNothing}</Text>}
            <Bills label={t.endStays} of={staysDue} />
            {staysDue.length > 0 && <Text size="sm" c="dimmed">{t.endStaysHint}</Text>}
            <Bills label={t.endVoids} of={voided} voided />
            <Credits of={credited} />
            <Charges of={charged} />
          </>
        )}
      </Loaded>
    </Confirm>
  )
}

function Credits({ of }: { of: Shape<'EndingResponse'>['credited'] }) {
  const t = useText(customerText)
  const f = useFormat()
  if (of.length === 0) return null
  return (
    <Stack gap={2}>
      <Text size="sm" fw={600}>{t.endCredits}</Text>
      <Stack component="ul" gap={2} m={0} pl="lg" aria-label={t.endCredits}>
        {of.map((c) => (
          <Text key={c.id} size="sm" component="li">
            {c.number ? <InvoiceLink id={c.id} number={c.number} /> : t.endDraft}
            {': '}{t.endCredit(c.days, c.of, f.money(c.amount, c.currency))}
          </Text>
        ))}
      </Stack>
    </Stack>
  )
}

function Charges({ of }: { of: Shape<'EndingResponse'>['charged'] }) {
  const t = useText(customerText)
  const f = useFormat()
  if (of.length === 0) return null
  return (
    <Stack gap={2}>
      <Text size="sm" fw={600}>{t.endCharges}</Text>
      <Stack component="ul" gap={2} m={0} pl="lg" aria-label={t.endCharges}>
        {of.map((c, i) => <Text key={i} size="sm" component="li">{c.description}{': '}{f.money(c.amount, c.currency)}</Text>)}
      </Stack>
    </Stack>
  )
}

function InvoiceLink({ id, number }: { id: string; number: string }) {
  const t = useText(customerText)
  return <Anchor inherit component={Link} to={addressOf.invoice(id)} target="_blank">{t.endInvoice(number)}</Anchor>
}

function Bills({ label, of, voided }: { label: string; of: Invoice[]; voided?: boolean }) {
  const t = useText(customerText)
  const f = useFormat()
  if (of.length === 0) return null
  return (
    <Stack gap={2}>
      <Text size="sm" fw={600}>{label}</Text>
      <Stack component="ul" gap={2} m={0} pl="lg" aria-label={label}>
        {of.map((i) => (
          <Text key={i.id} size="sm" component="li">
            {i.number ? <InvoiceLink id={i.id} number={i.number} /> : t.endDraft}
            {': '}{f.money(i.due, i.currency)}{voided && i.paid > 0 && `. ${t.endPaid(f.money(i.paid, i.currency))}`}
          </Text>
        ))}
      </Stack>
    </Stack>
  )
}

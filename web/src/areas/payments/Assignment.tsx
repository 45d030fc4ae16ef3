import { Alert, Button, Group, Select, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useAll } from '../../api/all'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { isolated } from '../../text/isolated'
import { paymentsText } from '../../text/payments'
import { Confirm } from '../../ui/Confirm'
import { Form } from '../../ui/Form'
import { PartNote } from '../../ui/PartNote'
import { When } from '../../ui/When'
import { payerOf } from './ReceiptsPage'
import type { ReceiptRow } from './words'
import './payments.css'

const allOrgs = {}

/** Assignment gives money on the platform's shared paybill to the organization whose customer paid. */
export function Assignment({ of: r, onDone }: { of: ReceiptRow; onDone?: () => void }) {
  const t = useText(paymentsText)
  const f = useFormat()
  const [chosen, setChosen] = useState<string | null>(null)
  const [asking, setAsking] = useState<string | null>(null)
  const orgs = useAll('/orgs', allOrgs)
  const nameOf = (id: string | null | undefined) => orgs.rows?.find((o) => o.id === id)?.name ?? id?.slice(0, 8) ?? ''
  const write = useWrite('post', '/receipts/{id}/assign', {
    told: (answer) => ('orgId' in answer ? t.assigned(f.money(r.amount, r.currency), nameOf(answer.orgId)) : ''),
    then: () => {
      setAsking(null)
      onDone?.()
    },
  })
  return (
    <Stack gap="md">
      <Alert variant="light" color="yellow" p="sm">{t.heldBecause[r.reason ?? ''] ?? r.reason}</Alert>
      {r.suggestions.map((s) => s.orgId && (
        <Group key={s.paymentId} justify="space-between" gap="xs" className="offer">
          <div>
            <Text size="sm" fw={500}>{nameOf(s.orgId)}</Text>
            <Text size="sm" c="dimmed">
              {t.near[s.by] ?? s.by} <When at={s.initiatedAt} exact />
              {s.credited && ` (${t.creditedAlready})`}
            </Text>
          </div>
          <Button onClick={() => setAsking(s.orgId ?? null)}>{t.givenTo(nameOf(s.orgId))}</Button>
        </Group>
      ))}
      <Form busy={false} onSubmit={() => setAsking(chosen)}>
        <Stack gap="xs" maw={480}>
          {r.suggestions.length > 0 && <Title order={3} size="h6">{t.elsewhere}</Title>}
          <Select
            label={t.assignTo}
            data={(orgs.rows ?? []).map((o) => ({ value: o.id, label: `${isolated(o.name)} (${o.slug})` }))}
            value={chosen}
            onChange={setChosen}
            searchable
          />
          <PartNote of={orgs} />
          <Group>
            <Button type="submit" disabled={!chosen}>{t.assign}</Button>
          </Group>
        </Stack>
      </Form>
      {asking && (
        <Confirm
          title={t.assignTitle(f.money(r.amount, r.currency), nameOf(asking))}
          verb={t.assignVerb}
          pending={write.isPending}
          error={write.error}
          onConfirm={() => write.mutate({ params: { path: { id: r.id } }, body: { orgId: asking } })}
          onClose={() => setAsking(null)}
        >
          {t.assignWhat(f.money(r.amount, r.currency), payerOf(r), nameOf(asking))}
        </Confirm>
      )}
    </Stack>
  )
}

import { Alert, Button, Group, Select, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useAll } from '../../api/all'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { paymentsText } from '../../text/payments'
import { Confirm } from '../../ui/Confirm'
import { Form } from '../../ui/Form'
import { OrganizationName } from '../../ui/OrganizationName'
import { organizationLabel } from '../../ui/organizationLabel'
import { PartNote } from '../../ui/PartNote'
import { State } from '../../ui/State'
import { When } from '../../ui/When'
import { assignable } from './assignable'
import { payerOf } from './ReceiptsPage'
import { type ReceiptRow, whyOfSuggestion } from './words'
import './payments.css'

type Organization = Row<'/orgs'>

const allOrgs = {}

/** Assignment gives money on the platform's shared paybill to the organization whose customer paid. */
export function Assignment({ of: r, onDone }: { of: ReceiptRow; onDone?: () => void }) {
  const t = useText(paymentsText)
  const f = useFormat()
  const [asking, setAsking] = useState<string | null>(null)
  const orgs = useAll('/orgs', allOrgs)
  const orgOf = (id: string | null | undefined) => orgs.rows?.find((o) => o.id === id)
  const nameOf = (id: string | null | undefined) => {
    const org = orgOf(id)
    return org ? organizationLabel(org) : (id?.slice(0, 8) ?? '')
  }
  const amount = f.money(r.amount, r.currency)
  const write = useWrite('post', '/receipts/{id}/assign', {
    told: (answer) => ('orgId' in answer ? t.assigned(amount, nameOf(answer.orgId)) : ''),
    then: () => {
      setAsking(null)
      onDone?.()
    },
  })
  return (
    <Stack gap="md">
      <Alert variant="light" color="yellow" p="sm">{t.heldBecause[r.reason ?? ''] ?? r.reason}</Alert>
      {r.suggestions.map((s) => s.orgId && (
        <Group key={s.paymentId ?? s.orgId} justify="space-between" gap="xs" className="offer">
          <div>
            <Text size="sm" fw={500} component="div"><Whose of={orgOf(s.orgId)} id={s.orgId} /></Text>
            <Text size="sm" c="dimmed">
              {whyOfSuggestion(s, t)} {s.initiatedAt && <When at={s.initiatedAt} exact />}
              {s.credited && ` (${t.creditedAlready})`}
            </Text>
          </div>
          {(orgOf(s.orgId)?.currency ?? r.currency) === r.currency
            ? <Button onClick={() => setAsking(s.orgId ?? null)}>{t.givenTo(nameOf(s.orgId))}</Button>
            : <Text size="sm" c="dimmed">{t.otherCurrency(1, r.currency)}</Text>}
        </Group>
      ))}
      <Choice of={r} orgs={orgs} onChoose={setAsking} />
      {asking && (
        <Confirm
          title={t.assignTitle(amount, nameOf(asking))}
          verb={t.assignVerb}
          pending={write.isPending}
          error={write.error}
          onConfirm={() => write.mutate({ params: { path: { id: r.id } }, body: { orgId: asking } })}
          onClose={() => setAsking(null)}
        >
          <Stack gap="xs">
            <span>{t.assignWhat(amount, payerOf(r), nameOf(asking))}</span>
            {orgOf(asking)?.status === 'suspended' && (
              <Group gap="xs"><State tone="bad">{t.orgSuspended}</State> <Text size="sm">{t.orgSuspendedHint}</Text></Group>
            )}
          </Stack>
        </Confirm>
      )}
    </Stack>
  )
}

/** Choice lists the organizations that can take the money, and says how many cannot. */
function Choice({ of: r, orgs, onChoose }: {
  of: ReceiptRow
  orgs: ReturnType<typeof useAll<'/orgs'>>
  onChoose: (id: string | null) => void
}) {
  const t = useText(paymentsText)
  const [chosen, setChosen] = useState<string | null>(null)
  const { fitting, others } = assignable(orgs.rows ?? [], r.currency)
  return (
    <Form busy={false} onSubmit={() => onChoose(chosen)}>
      <Stack gap="xs" maw={480}>
        {r.suggestions.length > 0 && <Title order={3} size="h6">{t.elsewhere}</Title>}
        <Select
          label={t.assignTo}
          data={fitting.map((o) => ({ value: o.id, label: organizationLabel(o) }))}
          renderOption={({ option }) => <Whose of={fitting.find((o) => o.id === option.value)} id={option.value} />}
          value={chosen}
          onChange={setChosen}
          searchable
        />
        {others > 0 && <Text size="sm" c="dimmed">{t.otherCurrency(others, r.currency)}</Text>}
        <PartNote of={orgs} />
        <Group>
          <Button type="submit" disabled={!chosen}>{t.assign}</Button>
        </Group>
      </Stack>
    </Form>
  )
}

/** Whose names an organization, and marks one that is suspended; one that is not read yet has its id. */
function Whose({ of: o, id }: { of: Organization | undefined; id: string }) {
  const t = useText(paymentsText)
  if (!o) return id.slice(0, 8)
  return (
    <Group gap="xs">
      <OrganizationName of={o} />
      {o.status === 'suspended' && <State tone="bad">{t.orgSuspended}</State>}
    </Group>
  )
}

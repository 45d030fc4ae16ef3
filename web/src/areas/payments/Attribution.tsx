import { Alert, Button, Group, Select, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import type { Row } from '../../api/rows'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { paymentsText } from '../../text/payments'
import { CustomerLink } from '../../ui/CustomerLink'
import { CustomerPicker } from '../../ui/CustomerPicker'
import { Form } from '../../ui/Form'
import { ProblemNote } from '../../ui/ProblemNote'
import { When } from '../../ui/When'
import { AttemptQuestion, mustAsk } from './AttemptQuestion'
import { type ReceiptRow, type Suggestion, whyOfSuggestion } from './words'
import './payments.css'

/** Attribution says why money waits, and puts it on the account of whoever a person names. */
export function Attribution({ of: r, onDone }: { of: ReceiptRow; onDone?: () => void }) {
  const t = useText(paymentsText)
  const f = useFormat()
  const may = useMay()('POST /receipts/{id}/attribute')
  const [body, setBody] = useState<Shape<'AttributeRequest'> | null>(null)
  const write = useWrite('post', '/receipts/{id}/attribute', {
    told: (answer) => {
      if (!('subscriber' in answer)) return ''
      const who = answer.subscriber?.name ?? answer.subscriber?.accountNumber ?? ''
      return t.credited(f.money(r.amount, r.currency), who)
    },
    then: onDone,
  })
  const credit = (next: Shape<'AttributeRequest'>) => {
    setBody(next)
    write.mutate({ params: { path: { id: r.id } }, body: next })
  }
  return (
    <Stack gap="md">
      <Alert variant="light" color="yellow" p="sm">{t.heldBecause[r.reason ?? ''] ?? r.reason}</Alert>
      {mustAsk(write.error) && body ? (
        <AttemptQuestion
          problem={write.error}
          currency={r.currency}
          pending={write.isPending}
          onSay={(word) => credit({ ...body, ...word })}
        />
      ) : write.error ? <ProblemNote of={write.error} /> : null}
      <Stack gap="xs">
        <Title order={3} size="h6">{t.suggestions}</Title>
        {r.creditedTo && r.subscriber && (
          <Offer
            of={{ subscriber: r.subscriber, why: t.stillOn }}
            onCredit={may ? () => credit({ subscriberId: r.subscriber?.id ?? '' }) : undefined}
            pending={write.isPending}
          />
        )}
        {r.suggestions.map((s) => (
          <Offer
            key={`${s.subscriberId}${s.paymentId ?? ''}`}
            of={{ subscriber: s.subscriber, why: whyOfSuggestion(s, t), at: s.initiatedAt, credited: s.credited }}
            onCredit={may ? () => credit(saidBy(s)) : undefined}
            pending={write.isPending}
          />
        ))}
        {r.suggestions.length === 0 && !r.creditedTo && <Text size="sm" c="dimmed">{t.noSuggestions}</Text>}
      </Stack>
      {may ? <Elsewhere pending={write.isPending} onCredit={credit} /> : <Text size="sm" c="dimmed">{t.noRight}</Text>}
    </Stack>
  )
}

/** saidBy is what taking a suggestion says: whose the money is, and of which prompt. */
function saidBy(s: Suggestion): Shape<'AttributeRequest'> {
  return s.paymentId ? { subscriberId: s.subscriberId, paymentId: s.paymentId } : { subscriberId: s.subscriberId }
}

/** Offer is one customer whose money it may be, with the reason, and one click that says so. */
function Offer({ of, pending, onCredit }: {
  of: { subscriber: Shape<'SubscriberRef'> | null; why: string; at?: string; credited?: boolean }
  pending: boolean
  onCredit?: () => void
}) {
  const t = useText(paymentsText)
  const name = of.subscriber?.name ?? of.subscriber?.accountNumber ?? ''
  return (
    <Group justify="space-between" gap="xs" className="offer">
      <div>
        <Text size="sm" fw={500}><CustomerLink of={of.subscriber} account /></Text>
        <Text size="sm" c="dimmed">
          {of.why}
          {of.at && <> <When at={of.at} exact /></>}
          {of.credited && ` (${t.creditedAlready})`}
        </Text>
      </div>
      {onCredit && <Button disabled={pending} onClick={onCredit}>{t.creditTo(name)}</Button>}
    </Group>
  )
}

/** Elsewhere credits a customer who is searched, and pays an invoice of theirs first if one is named. */
function Elsewhere({ pending, onCredit }: {
  pending: boolean
  onCredit: (body: Shape<'AttributeRequest'>) => void
}) {
  const t = useText(paymentsText)
  const f = useFormat()
  const [customer, setCustomer] = useState<Row<'/subscribers'> | null>(null)
  const [invoiceId, setInvoiceId] = useState<string | null>(null)
  const asked = { params: { query: { subscriberId: customer?.id, limit: 100 } } }
  const invoices = api.useQuery('get', '/invoices', asked, { enabled: customer !== null })
  const open = customer ? (invoices.data?.data.filter((i) => i.due > 0 && i.number) ?? []) : []
  return (
    <Form
      busy={pending}
      onSubmit={() => {
        if (customer) onCredit({ subscriberId: customer.id, ...(invoiceId ? { invoiceId } : {}) })
      }}
    >
      <Stack gap="xs" maw={480}>
        <Title order={3} size="h6">{t.elsewhere}</Title>
        <CustomerPicker
          chosen={customer}
          onChoose={(c) => {
            setCustomer(c)
            setInvoiceId(null)
          }}
        />
        <Select
          label={t.invoiceFirst}
          placeholder={t.invoiceOldest}
          data={open.map((i) => ({ value: i.id, label: `${i.number} · ${f.money(i.due, i.currency)}` }))}
          value={invoiceId}
          onChange={setInvoiceId}
          disabled={open.length === 0}
          clearable
        />
        <Group>
          <Button type="submit" disabled={!customer} loading={pending}>{t.credit}</Button>
        </Group>
      </Stack>
    </Form>
  )
}

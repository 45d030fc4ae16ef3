import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { CustomerPicker } from '../../ui/CustomerPicker'
import { Form } from '../../ui/Form'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { bodyOf, emptyLine, InvoiceLines, type Line } from './InvoiceLines'

/** NewInvoicePage makes an invoice by hand. Its total is the server's: tax depends on the organization's settings. */
export default function NewInvoicePage() {
  const t = useText(billingText)
  const f = useFormat()
  const { subscriberId } = useSearch({ from: '/invoices/new' })
  const navigate = useNavigate({ from: '/invoices/new' })
  const asked = { params: { path: { id: subscriberId ?? '' } } }
  const given = api.useQuery('get', '/subscribers/{id}', asked, { enabled: subscriberId !== undefined })
  const [picked, setPicked] = useState<Row<'/subscribers'> | null | undefined>(undefined)
  const customer = picked === undefined ? ((given.data as Row<'/subscribers'> | undefined) ?? null) : picked
  const [dueDate, setDueDate] = useState('')
  const [lines, setLines] = useState<Line[]>([emptyLine(0)])
  const write = useWrite('post', '/invoices', {
    told: (answer) => ('total' in answer ? t.made(answer.number, f.money(answer.total, answer.currency)) : t.accepted),
    then: (answer) => void navigate({ to: '/invoices/$id', params: { id: answer.id } }),
  })
  const send = () => {
    if (!customer) return
    write.mutate({
      body: {
        subscriberId: customer.id,
        ...(dueDate ? { dueDate } : {}),
        lines: lines.map(bodyOf),
      },
    })
  }
  return (
    <Page title={t.newInvoice}>
      <Form busy={write.isPending} onSubmit={send}>
        <Stack gap="md" maw={720}>
          <Text size="sm" c="dimmed">{t.newHint}</Text>
          <CustomerPicker chosen={customer} label={t.customer} onChoose={setPicked} />
          <InvoiceLines of={lines} onChange={setLines} error={write.error} />
          <TextInput
            type="date"
            label={t.dueDate}
            description={t.dueDateHint}
            value={dueDate}
            onChange={(e) => setDueDate(e.currentTarget.value)}
            error={write.error?.of('dueDate')}
            w={200}
          />
          {write.error && <ProblemNote of={write.error} />}
          <Group>
            <Button type="submit" size="sm" loading={write.isPending} disabled={!customer}>{t.make}</Button>
          </Group>
        </Stack>
      </Form>
    </Page>
  )
}

import { Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import type { Shape } from '../../api/types'
import { waitsFor } from '../../api/sending'
import { useWrite } from '../../api/write'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { uiText } from '../../text/ui'
import { CustomerLink } from '../../ui/CustomerLink'
import { Form } from '../../ui/Form'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { bodyOf, InvoiceLines, type Line } from './InvoiceLines'

type Invoice = Shape<'InvoiceDetailResponse'>

/** ReissuePage puts a corrected invoice in the place of a wrong one, beginning with what stands there. */
export default function ReissuePage() {
  const t = useText(billingText)
  const { id } = useParams({ from: '/invoices/$id/reissue' })
  const invoice = api.useQuery('get', '/invoices/{id}', { params: { path: { id } } })
  return (
    <Page title={invoice.data?.number ? t.reissueOf(invoice.data.number) : t.reissue}>
      <Loaded read={invoice} height={420}>{(of) => <Corrected key={of.id} of={of} />}</Loaded>
    </Page>
  )
}

/** Corrected is the form, whose lines are those of the wrong invoice at first. */
function Corrected({ of: i }: { of: Invoice }) {
  const t = useText(billingText)
  const ui = useText(uiText)
  const f = useFormat()
  const navigate = useNavigate({ from: '/invoices/$id/reissue' })
  const [lines, setLines] = useState<Line[]>(i.lines.map((l, key) => ({
    key, description: l.description, quantity: l.quantity, unitPrice: l.unitPrice, once: l.once,
  })))
  const [dueDate, setDueDate] = useState('')
  const [reason, setReason] = useState('')
  const write = useWrite('post', '/invoices/{id}/reissue', {
    told: (answer) => ('total' in answer ? t.made(answer.number, f.money(answer.total, answer.currency)) : t.accepted),
    then: (answer) => {
      const approval = waitsFor(answer)
      void (approval ? navigate({ to: '/approvals/$id', params: { id: approval } }) : navigate({ to: '/invoices/$id', params: { id: answer.id } }))
    },
  })
  const send = () => {
    write.mutate({
      params: { path: { id: i.id } },
      body: { reason: reason.trim(), lines: lines.map(bodyOf), ...(dueDate ? { dueDate } : {}) },
    })
  }
  return (
    <Form busy={write.isPending} onSubmit={send}>
      <Stack gap="md" maw={720}>
        <Text size="sm"><CustomerLink of={i.subscriber} account /></Text>
        <Text size="sm" c="dimmed">{t.reissueHint(i.number ?? t.invoice)}</Text>
        <InvoiceLines of={lines} onChange={setLines} error={write.error} />
        <TextInput
          type="date"
          label={t.dueDate}
          description={t.reissueDue}
          value={dueDate}
          onChange={(e) => setDueDate(e.currentTarget.value)}
          error={write.error?.of('dueDate')}
          w={260}
        />
        <Textarea
          label={ui.reason}
          description={ui.reasonWhy}
          value={reason}
          onChange={(e) => setReason(e.currentTarget.value)}
          error={write.error?.of('reason')}
          required
          withAsterisk={false}
          maxLength={500}
          autosize
        />
        {write.error && <ProblemNote of={write.error} />}
        <Group>
          <Button type="submit" size="sm" loading={write.isPending} disabled={reason.trim() === ''}>{t.reissueDo}</Button>
          <Link to="/invoices/$id" params={{ id: i.id }}>{ui.cancel}</Link>
        </Group>
      </Stack>
    </Form>
  )
}

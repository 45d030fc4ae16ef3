import { ActionIcon, Button, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core'
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
import { Plus, Trash2 } from '../../ui/icons'
import { NumberField } from '../../ui/NumberField'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { commaOrPoint } from '../../ui/decimals'

interface Line {
  key: number
  description: string
  quantity: number | string
  unitPrice: number | string
}

const empty = (key: number): Line => ({ key, description: '', quantity: 1, unitPrice: '' })

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
  const [lines, setLines] = useState<Line[]>([empty(0)])
  const write = useWrite('post', '/invoices', {
    told: (answer) => ('total' in answer ? t.made(answer.number, f.money(answer.total, answer.currency)) : t.accepted),
    then: (answer) => void navigate({ to: '/invoices/$id', params: { id: answer.id } }),
  })
  const change = (key: number, part: Partial<Line>) => {
    setLines(lines.map((l) => (l.key === key ? { ...l, ...part } : l)))
  }
  const send = () => {
    if (!customer) return
    write.mutate({
      body: {
        subscriberId: customer.id,
        ...(dueDate ? { dueDate } : {}),
        lines: lines.map((l) => ({
          description: l.description.trim(),
          quantity: Number(l.quantity),
          unitPrice: Number(l.unitPrice),
        })),
      },
    })
  }
  return (
    <Page title={t.newInvoice}>
      <Form busy={write.isPending} onSubmit={send}>
        <Stack gap="md" maw={720}>
          <Text size="sm" c="dimmed">{t.newHint}</Text>
          <CustomerPicker chosen={customer} label={t.customer} onChoose={setPicked} />
          {lines.map((l, n) => (
            <LineFields
              key={l.key}
              n={n}
              of={l}
              onChange={(part) => change(l.key, part)}
              onRemove={lines.length > 1 ? () => setLines(lines.filter((each) => each.key !== l.key)) : undefined}
              fault={(field) => write.error?.of(`lines[${n}].${field}`)}
            />
          ))}
          <Group>
            <Button
              variant="subtle"
              leftSection={<Plus size={14} aria-hidden />}
              onClick={() => setLines([...lines, empty(Math.max(...lines.map((l) => l.key)) + 1)])}
            >
              {t.addLine}
            </Button>
          </Group>
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

/** LineFields are the fields of one line. */
function LineFields({ n, of, fault, onChange, onRemove }: {
  n: number
  of: Line
  fault: (field: string) => string | undefined
  onChange: (part: Partial<Line>) => void
  onRemove?: () => void
}) {
  const t = useText(billingText)
  const f = useFormat()
  return (
    <Fieldset legend={t.lineN(n + 1)} variant="unstyled">
      <Group gap="xs" align="flex-start">
        <TextInput
          label={t.description}
          value={of.description}
          onChange={(e) => onChange({ description: e.currentTarget.value })}
          error={fault('description')}
          required
          withAsterisk={false}
          maxLength={200}
          flex="1 1 220px"
        />
        <NumberField
          label={t.quantity}
          value={of.quantity}
          decimalScale={3}
          onChange={(quantity) => onChange({ quantity })}
          error={fault('quantity')}
          required
          withAsterisk={false}
          min={0}
          allowedDecimalSeparators={commaOrPoint}
          w={90}
          hideControls
        />
        <NumberField
          label={`${t.unitPrice} (${f.zone.currency})`}
          value={of.unitPrice}
          onChange={(unitPrice) => onChange({ unitPrice })}
          error={fault('unitPrice')}
          required
          withAsterisk={false}
          amountIn={f.zone.currency}
          hideControls
          w={150}
        />
        {onRemove && (
          <ActionIcon mt={28} onClick={onRemove} aria-label={t.removeLine(n + 1)} title={t.removeLine(n + 1)}>
            <Trash2 size={16} aria-hidden />
          </ActionIcon>
        )}
      </Group>
    </Fieldset>
  )
}

import { ActionIcon, Button, Fieldset, Group, TextInput } from '@mantine/core'
import type { Problem } from '../../api/problem'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { commaOrPoint } from '../../ui/decimals'
import { Plus, Trash2 } from '../../ui/icons'
import { NumberField } from '../../ui/NumberField'

/** Line is one line of an invoice as it is typed. */
export interface Line {
  key: number
  description: string
  quantity: number | string
  unitPrice: number | string
  /** once: days of the period that are given back give nothing of it back. */
  once: boolean
}

export const emptyLine = (key: number): Line => ({ key, description: '', quantity: 1, unitPrice: '', once: false })

/** bodyOf is a line as the API takes it. */
export const bodyOf = (l: Line) => ({
  description: l.description.trim(),
  quantity: Number(l.quantity),
  unitPrice: Number(l.unitPrice),
  ...(l.once ? { once: true } : {}),
})

/** InvoiceLines are the fields of all lines, at least one. */
export function InvoiceLines({ of: lines, error, onChange }: {
  of: Line[]
  error?: Problem | null
  onChange: (lines: Line[]) => void
}) {
  const t = useText(billingText)
  const change = (key: number, part: Partial<Line>) => {
    onChange(lines.map((l) => (l.key === key ? { ...l, ...part } : l)))
  }
  return (
    <>
      {lines.map((l, n) => (
        <LineFields
          key={l.key}
          n={n}
          of={l}
          onChange={(part) => change(l.key, part)}
          onRemove={lines.length > 1 ? () => onChange(lines.filter((each) => each.key !== l.key)) : undefined}
          fault={(field) => error?.of(`lines[${n}].${field}`)}
        />
      ))}
      <Group>
        <Button
          variant="subtle"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...lines, emptyLine(Math.max(...lines.map((l) => l.key)) + 1)])}
        >
          {t.addLine}
        </Button>
      </Group>
    </>
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

import { Button, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { client } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { billingText } from '../../text/billing'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { Confirm } from '../../ui/Confirm'
import { DocumentButton } from '../../ui/DocumentButton'
import { NumberField } from '../../ui/NumberField'
import { creditNoteOf, restOf } from './creditNote'

type Invoice = Shape<'InvoiceDetailResponse'>

/** printable says of a document that it may be given to somebody: the tax authority has signed it, or need not. */
export const printable = ({ taxSignature: s }: Pick<Invoice, 'taxSignature'>) => s === null || s.state === 'signed' || s.state === 'withdrawn'

/** InvoiceActions are the buttons that take an invoice back, whole or in part. */
export function InvoiceActions({ of: i }: { of: Invoice }) {
  const t = useText(billingText)
  const may = useMay()
  const [doing, setDoing] = useState<'void' | 'note' | null>(null)
  const close = () => setDoing(null)
  const open = i.state === 'draft' || i.state === 'issued'
  const rest = restOf(i)
  const issued = i.number !== null && i.state !== 'voided'
  return (
    <>
      {i.number !== null && printable(i) && (
        <DocumentButton
          read={() => client.GET('/invoices/{id}/pdf', { params: { path: { id: i.id } }, parseAs: 'blob' })}
          of={`${t.invoice} ${i.number}`}
        />
      )}
      {open && i.paid === 0 && i.creditNotes.length === 0 && may('POST /invoices/{id}/void') && (
        <Button variant="default" onClick={() => setDoing('void')}>{t.void}</Button>
      )}
      {issued && rest > 0 && may('POST /invoices/{id}/credit-note') && (
        <Button variant="default" onClick={() => setDoing('note')}>{t.creditNote}</Button>
      )}
      {issued && i.replacedBy === null && i.total > 0 && i.creditNotes.length === 0 && i.writtenOff === 0 &&
        may('POST /invoices/{id}/reissue') && (
        <Button variant="default" renderRoot={(props) => <Link {...props} to="/invoices/$id/reissue" params={{ id: i.id }} />}>{t.reissue}</Button>
      )}
      {doing === 'void' && <Void of={i} onClose={close} />}
      {doing === 'note' && <CreditNote of={i} rest={rest} onClose={close} />}
    </>
  )
}

function Void({ of: i, onClose }: { of: Invoice; onClose: () => void }) {
  const t = useText(billingText)
  const f = useFormat()
  const name = i.number ?? t.draft
  const write = useWrite('post', '/invoices/{id}/void', { told: () => t.voidDone(name), then: onClose })
  return (
    <Confirm
      title={t.voidTitle}
      verb={t.void}
      danger
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: i.id } }, body: { reason } })}
      onClose={onClose}
    >
      {t.voidWhat(name, f.money(i.due, i.currency))}
    </Confirm>
  )
}

function CreditNote({ of: i, rest, onClose }: { of: Invoice; rest: number; onClose: () => void }) {
  const t = useText(billingText)
  const f = useFormat()
  const [amount, setAmount] = useState<number | ''>('')
  const write = useWrite('post', '/invoices/{id}/credit-note', {
    told: (answer) => {
      if (!('amount' in answer)) return t.accepted
      const done = t.creditNoteDone(f.money(answer.amount, answer.currency))
      return i.paid > 0 ? `${done} ${t.creditNoteWhere}` : done
    },
    then: onClose,
  })
  const { whole, runsOn } = creditNoteOf(i, amount)
  return (
    <Confirm
      title={t.creditNoteTitle}
      verb={whole || amount === '' ? t.creditNoteWhole(f.money(rest, i.currency)) : t.creditNotePart(f.money(amount, i.currency))}
      incomplete={amount === 0}
      danger
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => {
        const body = amount === '' ? { reason } : { reason, amount }
        write.mutate({ params: { path: { id: i.id } }, body })
      }}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm">{t.creditNoteWhat}</Text>
        {runsOn && <Text size="sm">{t.creditNoteRunsOn}</Text>}
        <NumberField
          label={t.creditNoteAmount}
          description={t.creditNoteRest(f.money(rest, i.currency))}
          value={amount}
          onChange={setAmount}
          min={0}
          max={rest}
          amountIn={i.currency}
          hideControls
          error={write.error?.of('amount')}
          data-autofocus
        />
      </Stack>
    </Confirm>
  )
}

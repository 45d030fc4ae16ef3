import { Anchor, Button, Modal, SegmentedControl, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { client } from '../../api/client'
import type { Shape } from '../../api/types'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { subscribersText } from '../../text/subscribers'
import { takingText } from '../../text/taking'
import { uiText } from '../../text/ui'
import { Form } from '../../ui/Form'
import { NumberField } from '../../ui/NumberField'
import { ProblemNote } from '../../ui/ProblemNote'
import { PaymentOutcome } from './PaymentOutcome'
import { UsedReference } from './UsedReference'
import { type Customer, nameOf } from './words'

type How = 'prompt' | 'cash'
type Kind = NonNullable<Shape<'CashRequest'>['kind']>

// Refusals that tell of the reference, and of no fault in its form.
const aboutReference = ['reference_used', 'reference_taken_back', 'looks_like_mobile_money']

/** TakePayment asks a phone to pay, or notes cash, and tells live what becomes of it. */
export function TakePayment({ of: c, onClose }: { of: Customer; onClose: () => void }) {
  const t = useText(takingText)
  const words = useText(uiText)
  const subscribers = useText(subscribersText)
  const f = useFormat()
  const may = useMay()
  const due = c.due ?? Math.max(c.balance, 0)
  const [how, setHow] = useState<How>('prompt')
  const [typed, setTyped] = useState<number | string | null>(null)
  const [phone, setPhone] = useState(c.phone ?? '')
  const [reference, setReference] = useState('')
  const [kind, setKind] = useState<Kind>('cash')
  const [receivedOn, setReceivedOn] = useState('')
  const [paymentId, setPaymentId] = useState<string | null>(null)
  // Whoever has closed the dialog meanwhile is told what it cannot show any more.
  const gone = useRef(false)
  const close = () => {
    gone.current = true
    onClose()
  }
  const prompt = useWrite('post', '/payments/initiate', {
    told: () => (gone.current ? t.sent(nameOf(c, subscribers)) : ''),
    then: (p) => setPaymentId('paymentId' in p ? p.paymentId : null),
  })
  const cash = useWrite('post', '/payments/cash', {
    told: () => (gone.current ? t.booked(f.money(Number(amount), c.currency), nameOf(c, subscribers)) : ''),
    then: (p) => setPaymentId(p.id),
  })
  const write = how === 'prompt' ? prompt : cash
  const amount = typed ?? (due > 0 ? due : '')
  const ready = Number(amount) > 0 && (how === 'cash' ? reference.trim() !== '' : phone.trim() !== '')
  const send = () => {
    if (!ready || write.isPending) return
    const what = { subscriberId: c.id, amount: Number(amount) }
    if (how === 'cash') cash.mutate({ body: { ...what, reference: reference.trim(), kind, ...(receivedOn ? { receivedOn } : {}) } })
    else prompt.mutate({ body: { ...what, ...(phone.trim() === c.phone ? {} : { phone: phone.trim() }) } })
  }
  const again = (next: How) => {
    setPaymentId(null)
    setHow(next)
    setTyped(null)
    prompt.reset()
    cash.reset()
  }
  return (
    <Modal opened onClose={close} title={t.title} closeButtonProps={{ 'aria-label': words.close }}>
      {paymentId ? <PaymentOutcome id={paymentId} of={c} phone={phone} onAgain={again} onClose={onClose} /> : (
        <Form busy={write.isPending} onSubmit={send}>
          <Stack gap="sm" mih={300}>
            <Text size="sm">{due > 0 ? t.due(f.money(due, c.currency)) : t.nothingDue}</Text>
            {may('POST /payments/cash') && (
              <SegmentedControl
                value={how}
                onChange={(v) => setHow(v as How)}
                data={[{ value: 'prompt', label: t.prompt }, { value: 'cash', label: t.cash }]}
                aria-label={t.how}
              />
            )}
            <NumberField
              label={`${t.amount} (${c.currency})`}
              value={amount}
              onChange={setTyped}
              min={0}
              amountIn={c.currency}
              error={write.error?.of('amount')}
              description={how === 'prompt' && Number(amount) % 1 > 0 && t.whole(f.money(Math.ceil(Number(amount)), c.currency))}
              data-autofocus
            />
            {how === 'prompt' ? (
              <TextInput
                type="tel" label={t.phone} description={t.phoneHint} value={phone} onChange={(e) => setPhone(e.currentTarget.value)}
                error={write.error?.of('phone')}
              />
            ) : (
              <>
                <TextInput
                  label={t.reference} description={t.referenceHint} value={reference} onChange={(e) => setReference(e.currentTarget.value)}
                  maxLength={100} error={write.error?.of('reference') ?? aboutReference.includes(write.error?.code ?? '')}
                />
                <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
                  <Select
                    label={t.kind} value={kind} allowDeselect={false} error={write.error?.of('kind')}
                    data={Object.entries(t.kinds).map(([value, label]) => ({ value, label }))} onChange={(v) => v && setKind(v as Kind)}
                  />
                  <TextInput
                    type="date" label={t.receivedOn} description={t.receivedOnHint} value={receivedOn}
                    onChange={(e) => setReceivedOn(e.currentTarget.value)} error={write.error?.of('receivedOn')}
                  />
                </SimpleGrid>
              </>
            )}
            {write.error && (
              <ProblemNote
                of={write.error}
                next={write.error.code === 'payment_in_progress' ? <Running id={c.id} onFound={setPaymentId} label={t.running} />
                  : <UsedReference of={write.error} />}
              />
            )}
            <Button type="submit" size="sm" loading={write.isPending} disabled={!ready}>{how === 'prompt' ? t.send : t.take}</Button>
          </Stack>
        </Form>
      )}
    </Modal>
  )
}

/** Running looks for the prompt that is open already. */
function Running({ id, onFound, label }: { id: string; onFound: (payment: string) => void; label: string }) {
  const look = async () => {
    const { data } = await client.GET('/payments', { params: { query: { subscriberId: id, status: 'PENDING', limit: 1 } } })
    const open = data?.data.at(0)
    if (open) onFound(open.id)
  }
  return <Anchor component="button" type="button" size="sm" onClick={() => void look()}>{label}</Anchor>
}

import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Row } from '../../api/rows'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { paymentsText } from '../../text/payments'
import { Confirm } from '../../ui/Confirm'
import { CustomerPicker } from '../../ui/CustomerPicker'
import { AttemptQuestion, type AttemptWord, mustAsk } from './AttemptQuestion'
import { isBooked } from './booked'
import { RefundDialog } from './RefundDialog'
import { payerOf } from './ReceiptsPage'
import type { ReceiptRow } from './words'

/** Corrections are the buttons that undo a mistake about money that is on an account. */
export function Corrections({ of: r }: { of: ReceiptRow }) {
  const t = useText(paymentsText)
  const may = useMay()
  const [doing, setDoing] = useState<'reverse' | 'move' | 'confirm' | 'refund' | null>(null)
  const booked = isBooked(r)
  const close = () => setDoing(null)
  return (
    <>
      {r.unclaimed && booked && may('POST /receipts/{id}/attribute') && (
        <Button onClick={() => setDoing('confirm')}>{t.confirmMine}</Button>
      )}
      {booked && may('POST /receipts/{id}/reattribute') && (
        <Button variant="default" onClick={() => setDoing('move')}>{t.move}</Button>
      )}
      {(booked || r.state === 'suspense') && may('POST /receipts/{id}/refund') && (
        <Button variant="default" onClick={() => setDoing('refund')}>{t.refund}</Button>
      )}
      {(booked || r.state === 'suspense') && may('POST /receipts/{id}/reverse') && (
        <Button variant="default" onClick={() => setDoing('reverse')}>{t.reverse}</Button>
      )}
      {doing === 'confirm' && <ConfirmOwner of={r} onClose={close} />}
      {doing === 'move' && <Move of={r} onClose={close} />}
      {doing === 'refund' && <RefundDialog of={r} onClose={close} />}
      {doing === 'reverse' && <Reverse of={r} onClose={close} />}
    </>
  )
}

/** holderOf names the customer whose account has the money. */
function holderOf(r: ReceiptRow): string {
  return r.subscriber?.name ?? r.subscriber?.accountNumber ?? '–'
}

function Reverse({ of: r, onClose }: { of: ReceiptRow; onClose: () => void }) {
  const t = useText(paymentsText)
  const f = useFormat()
  const amount = f.money(r.amount, r.currency)
  const write = useWrite('post', '/receipts/{id}/reverse', { told: () => t.reversed(amount), then: onClose })
  return (
    <Confirm
      title={t.reverseTitle}
      verb={t.reverse}
      danger
      reason
      pending={write.isPending}
      error={write.error}
      onConfirm={(reason) => write.mutate({ params: { path: { id: r.id } }, body: { reason } })}
      onClose={onClose}
    >
      {r.creditedTo === null ? t.reverseHeld(amount, payerOf(r)) : t.reverseWhat(amount, holderOf(r))}
    </Confirm>
  )
}

function Move({ of: r, onClose }: { of: ReceiptRow; onClose: () => void }) {
  const t = useText(paymentsText)
  const f = useFormat()
  const amount = f.money(r.amount, r.currency)
  const [to, setTo] = useState<Row<'/subscribers'> | null>(null)
  const [why, setWhy] = useState('')
  const name = [to?.firstName, to?.lastName].filter(Boolean).join(' ') || (to?.accountNumber ?? '')
  const write = useWrite('post', '/receipts/{id}/reattribute', { told: () => t.moved(amount, name), then: onClose })
  const move = (reason: string, word?: AttemptWord) => {
    setWhy(reason)
    if (to) write.mutate({ params: { path: { id: r.id } }, body: { subscriberId: to.id, reason, ...word } })
  }
  const ask = mustAsk(write.error)
  return (
    <Confirm
      title={t.moveTitle}
      verb={t.move}
      danger
      reason
      incomplete={!to || to.id === r.subscriberId}
      pending={write.isPending}
      error={ask ? null : write.error}
      onConfirm={(reason) => move(reason)}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm">{t.moveWhat(amount, holderOf(r))}</Text>
        <CustomerPicker chosen={to} label={t.moveTo} onChoose={setTo} />
        {ask && write.error && (
          <AttemptQuestion
            problem={write.error}
            currency={r.currency}
            pending={write.isPending}
            onSay={(word) => move(why, word)}
          />
        )}
      </Stack>
    </Confirm>
  )
}

/** ConfirmOwner ends the alarm about money whose own receipt has not come. */
function ConfirmOwner({ of: r, onClose }: { of: ReceiptRow; onClose: () => void }) {
  const t = useText(paymentsText)
  const write = useWrite('post', '/receipts/{id}/attribute', { told: () => t.confirmed, then: onClose })
  return (
    <Confirm
      title={`${t.confirmMine}: ${holderOf(r)}`}
      verb={t.confirmMine}
      pending={write.isPending}
      error={write.error}
      onConfirm={() => {
        if (r.subscriberId) write.mutate({ params: { path: { id: r.id } }, body: { subscriberId: r.subscriberId } })
      }}
      onClose={onClose}
    >
      {t.unclaimedWhy}
    </Confirm>
  )
}

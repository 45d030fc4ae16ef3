import { expect, test } from 'vitest'
import { grouped, type Paid, type Step } from './steps'

const noon = Date.parse('2026-11-23T12:00:00Z')

// A row at so many seconds after noon; lists have the newest first.
const row = (seconds: number, code: Step['code'], cause: string, more: Partial<Step['facts']> & { by?: Step['actor']['kind'] } = {}): Step => {
  const { by = 'process', ...facts } = more
  const [type = '', id = ''] = cause.split(' ')
  return {
    eventId: `${code} ${cause} ${seconds}`, at: new Date(noon + seconds * 1000).toISOString(), code, facts,
    cause: { type: type as Step['cause']['type'], id }, actor: { kind: by },
  }
}

const paying = (at: number, payment: string, receipt: string, amount = 250) => [
  row(at + 3, 'access_restored', 'subscription s'),
  row(at + 3, 'subscription_extended', 'invoice i'),
  row(at + 2, 'invoice_paid', 'invoice i'),
  row(at + 2, 'payment_credited', `receipt ${receipt}`, { amount, channel: 'stk' }),
  row(at + 1, 'payment_matched', `receipt ${receipt}`, { amount }),
  row(at + 1, 'prompt_closed', `payment ${payment}`),
  row(at + 1, 'prompt_paid', `payment ${payment}`, { amount }),
  row(at, 'payment_asked_for', `payment ${payment}`, { amount, by: 'user' }),
]

const isPaid = (e: Step | Paid<Step>): e is Paid<Step> => 'steps' in e
const shape = (rows: Step[]) => grouped(rows).map((e) => (isPaid(e) ? `paid ${e.amount} ${e.steps.length}` : e.code))

test('what one payment did stands under one entry, in its order, and nothing is left out', () => {
  const rows = [row(90, 'message_sent_by_sms', 'message m'), ...paying(0, 'p', 'r'), row(-5, 'walled_garden_entered', 'invoice i')]
  expect(shape(rows)).toEqual(['message_sent_by_sms', 'paid 250 8', 'walled_garden_entered'])
  expect(grouped(rows).flatMap((e) => (isPaid(e) ? e.steps : [e]))).toEqual(rows)
})

test('two payments within a minute keep their own steps', () => {
  expect(shape([...paying(20, 'p2', 'r2'), ...paying(0, 'p1', 'r1')])).toEqual(['paid 250 8', 'paid 250 8'])
})

test('other things stay by themselves: another prompt, what comes later, and what a person does', () => {
  const late = [row(70, 'access_restored', 'subscription s'), row(30, 'cut_ended', 'subscription s', { by: 'user' })]
  const refused = row(1, 'prompt_failed', 'payment other')
  const other = row(0, 'payment_asked_for', 'payment other', { amount: 250 })
  expect(shape([...late, ...paying(0, 'p', 'r'), refused, other]))
    .toEqual(['access_restored', 'cut_ended', 'paid 250 8', 'prompt_failed', 'payment_asked_for'])
})

test('a payment in cash has what came with it, and one that did nothing else stays a row', () => {
  const cash = { amount: 100, channel: 'cash', by: 'user' } as const
  const credit = row(0, 'payment_credited', 'receipt r', cash)
  expect(shape([row(0, 'invoice_allocated', 'invoice i', { by: 'user' }), credit])).toEqual(['paid 100 2'])
  expect(shape([credit])).toEqual(['payment_credited'])
})

test('what a credit note, a voided invoice or money taken off leaves is no step of the payment before it', () => {
  const cash = [
    row(1, 'credit_left', 'subscriber s'),
    row(0, 'invoice_allocated', 'invoice i', { by: 'user' }),
    row(0, 'payment_credited', 'receipt r', { amount: 1000, channel: 'cash', by: 'user' }),
  ]
  for (const end of ['credit_note_issued', 'invoice_voided', 'allocation_withdrawn', 'payment_reversed', 'payment_withdrawn'] as const) {
    const then = [
      row(7, 'credit_left', 'subscriber s'),
      row(7, 'invoice_allocated', 'invoice other'),
      row(6, end, 'other o'),
    ]
    expect(shape([...then, ...cash])).toEqual(['credit_left', 'invoice_allocated', end, 'paid 1000 3'])
  }
})

import { useCallback } from 'react'
import type { Row } from '../api/rows'
import { catalogue, useText } from './catalogue'
import { ways } from './ways'

type Line = Row<'/subscribers/{id}/statement'>

/** Said is what the words of a line are about; empty where it has none. */
interface Said {
  /** number of the document or receipt, with a space before it. */
  number: string
  /** invoice is the number of the invoice that a credit note is for. */
  invoice: string
  /** by is the way of a payment, with a space before it. */
  by: string
  /** taken is a debit or credit that is taken back. */
  taken: boolean
}

interface Words {
  says: Record<Line['kind'], (s: Said) => string>
  /** ended says what became of a refund, with the number of the payment to the payer. */
  ended: Record<NonNullable<Line['outcome']>, (reference: string | null) => string>
  by: Record<NonNullable<Line['channel']>, string>
  /** ours says the reasons that the program itself gives; other remarks are what somebody typed. */
  ours: Partial<Record<string, string>>
}

const en: Words = {
  says: {
    invoice: (s) => `Invoice${s.number}`,
    invoice_voided: (s) => `Invoice${s.number} voided`,
    payment: (s) => `Payment${s.number}${s.by}`,
    payment_withdrawn: (s) => `Payment${s.number} taken back`,
    credit_note: (s) => `Credit note${s.number}${s.invoice && ` for invoice ${s.invoice}`}`,
    refund: (s) => `Refund of payment${s.number}`,
    refund_failed: (s) => `Refund of payment${s.number} failed`,
    write_off: () => 'Written off',
    opening_balance: () => 'Opening balance',
    write_off_recovered: (s) => `Written-off invoice${s.number} ${s.taken ? 'no longer paid' : 'paid'}`,
  },
  ended: {
    completed: (reference) => (reference ? `paid to the payer, number ${reference}` : 'paid to the payer'),
    failed: () => 'it was not paid',
  },
  by: ways.en,
  ours: {},
}

const sw: Words = {
  says: {
    invoice: (s) => `Ankara${s.number}`,
    invoice_voided: (s) => `Ankara${s.number} ilibatilishwa`,
    payment: (s) => `Malipo${s.number}${s.by}`,
    payment_withdrawn: (s) => `Malipo${s.number} yaliondolewa`,
    credit_note: (s) => `Hati ya mkopo${s.number}${s.invoice && ` kwa ankara ${s.invoice}`}`,
    refund: (s) => `Marejesho ya malipo${s.number}`,
    refund_failed: (s) => `Kurudisha malipo${s.number} kulishindikana`,
    write_off: () => 'Deni lilifutwa',
    opening_balance: () => 'Salio la kuanzia',
    write_off_recovered: (s) => `Ankara${s.number} iliyofutwa ${s.taken ? 'haijalipwa tena' : 'ililipwa'}`,
  },
  ended: {
    completed: (reference) => (reference ? `mlipaji amelipwa, namba ${reference}` : 'mlipaji amelipwa'),
    failed: () => 'hayakulipwa',
  },
  by: ways.sw,
  ours: {
    'subscription ended': 'huduma ilimalizwa',
    'the period never began': 'kipindi hakikuanza',
    "the payment is another subscriber's": 'malipo ni ya mteja mwingine',
    'the payment was reversed': 'malipo yalirudishwa',
    'credited by another receipt': 'yamehesabiwa kwa risiti nyingine',
    'a refund was asked for': 'marejesho yaliombwa',
    'the refund was not paid': 'marejesho hayakulipwa',
  },
}

/** statementsText says what the lines of an account are. A kind without words stops the build. */
export const statementsText = catalogue(en, sw)

/** describe says a line in words, with the reason that somebody gave. A kind that is newer than the page is said by the API. */
export function describe(l: Omit<Line, 'cause'>, words: Words): string {
  const say = (words.says as Partial<Words['says']>)[l.kind]
  if (!say) return l.description
  const said = say({
    number: l.number ? ` ${l.number}` : '',
    invoice: l.invoice ?? '',
    by: l.channel ? ((words.by as Partial<Words['by']>)[l.channel] ?? '') : '',
    taken: l.debit < 0 || l.credit < 0,
  })
  if (l.outcome) return `${said}: ${words.ended[l.outcome](l.reference)}`
  return l.remark ? `${said}: ${words.ours[l.remark] ?? l.remark}` : said
}

/** useDescribe gives the function that says a line in the person's language. */
export function useDescribe(): (l: Line) => string {
  const words = useText(statementsText)
  return useCallback((l: Line) => describe(l, words), [words])
}

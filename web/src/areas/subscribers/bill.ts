import type { answersText } from '../../text/answers'
import type { Format } from '../../text/format'

interface Billed {
  number: string
  total: number
  /** due is what is left of the total. */
  due: number
  currency: string
}

type Words = Pick<typeof answersText.en, 'bill' | 'billRest' | 'overdue' | 'overdueRest'>

/** billOf names an invoice in a sentence, alone and with the days it is overdue. Of one paid in part it says what is left. */
export function billOf(t: Words, i: Billed, days: number, f: Pick<Format, 'money'>) {
  const total = f.money(i.total, i.currency)
  if (i.due >= i.total) {
    const bill = t.bill(i.number, total)
    return { bill, unpaid: t.overdue(bill, days) }
  }
  const bill = t.billRest(i.number, total, f.money(i.due, i.currency))
  return { bill, unpaid: t.overdueRest(bill, days) }
}

import type { answersText } from '../../text/answers'
import type { Format } from '../../text/format'

interface Billed {
  number: string
  total: number
  /** due is what is left of the total. */
  due: number
  currency: string
}

interface Priced {
  price: number
  left: number
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

/** priceOf names the price of a service that no invoice asks for. Where credit covers a part it says what is left. */
export function priceOf(t: Pick<typeof answersText.en, 'price' | 'priceRest'>, p: Priced, f: Pick<Format, 'money'>) {
  const price = f.money(p.price, p.currency)
  return p.left > 0 && p.left < p.price ? t.priceRest(price, f.money(p.left, p.currency)) : t.price(price)
}

import type { Shape } from '../../api/types'

/** dateOrders and encodings are those that can be chosen for a file that does not show its own. */
export const dateOrders = ['dmy', 'mdy'] as const
export const encodings = ['windows-1252', 'windows-1250', 'windows-1251', 'windows-1256', 'gbk'] as const

/** Answers are what a person has answered to what is asked before an import. */
export interface Answers {
  /** columns has what a column is taken for, by its letter. */
  columns: Record<string, string>
  dateOrder: (typeof dateOrders)[number] | null
  encoding: (typeof encodings)[number] | null
  unpaid: boolean
}

/** noAnswers is what begins with each file. */
export const noAnswers: Answers = { columns: {}, dateOrder: null, encoding: null, unpaid: false }

/** queryOf has the answers as parameters. */
export const queryOf = ({ columns, dateOrder, encoding, unpaid }: Answers) => ({
  ...(Object.keys(columns).length > 0 ? { columns: Object.entries(columns).map((c) => c.join(':')).join(',') } : {}),
  ...(dateOrder ? { dateOrder } : {}), ...(encoding ? { encoding } : {}), ...(unpaid ? { unpaid } : {}),
})

/** Question has to be answered before an import. */
export type Question = Shape<'ImportQuestion'>

/** answersFor lists what a column may be taken for, by what its title shows; "-" leaves it out. */
export function answersFor(of: Pick<Question, 'meaning'>) {
  switch (of.meaning) {
    case 'status':
      return ['status', '-'] as const
    case 'expiry':
      return ['paidUntil', '-'] as const
    case 'plan':
      return ['planCode', '-'] as const
    case 'price':
      return ['openingBalance', 'credit', '-'] as const
  }
  return ['openingBalance', 'credit', '-'] as const
}

/** allAnswered tells whether each question has an answer. */
export const allAnswered = (of: Pick<Question, 'kind' | 'letter'>[], answers: Answers) => of.every((q) => {
  switch (q.kind) {
    case 'column':
      return !!answers.columns[q.letter ?? '']
    case 'date_order':
      return answers.dateOrder !== null
    case 'encoding':
      return answers.encoding !== null
    case 'unpaid':
      return answers.unpaid
  }
})

import { describe, expect, it } from 'vitest'
import { allAnswered, answersFor, noAnswers, queryOf } from './answers'

describe('what is asked before an import', () => {
  it('is answered when each question is', () => {
    const asked = [{ kind: 'column' as const, letter: 'C' }, { kind: 'unpaid' as const, letter: null }]
    expect(allAnswered(asked, noAnswers)).toBe(false)
    expect(allAnswered(asked, { ...noAnswers, columns: { C: '-' } })).toBe(false)
    expect(allAnswered(asked, { ...noAnswers, columns: { C: '-' }, unpaid: true })).toBe(true)
    expect(allAnswered([{ kind: 'date_order', letter: null }], { ...noAnswers, dateOrder: 'dmy' })).toBe(true)
  })

  it('takes money as owed or as paid ahead, and can always be left out', () => {
    expect(answersFor({ meaning: 'balance' })).toEqual(['openingBalance', 'credit', '-'])
    expect(answersFor({ meaning: 'status' })).toEqual(['status', '-'])
  })

  it('sends the answers as the API reads them, and nothing without any', () => {
    expect(queryOf(noAnswers)).toEqual({})
    expect(queryOf({ columns: { C: 'credit', F: '-' }, dateOrder: 'mdy', encoding: 'gbk', unpaid: true }))
      .toEqual({ columns: 'C:credit,F:-', dateOrder: 'mdy', encoding: 'gbk', unpaid: true })
  })
})

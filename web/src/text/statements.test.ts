import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { describe: say, statementsText } = await import('./statements')

const line = {
  at: '', kind: 'payment', number: 'QGH7', invoice: null, channel: 'c2b', remark: null, outcome: null, reference: null, description: 'API', debit: 0, credit: 100,
  balance: 0, currency: 'KES',
} as const

test('a line is said in the language, with its number and the reason that somebody gave', () => {
  expect(say(line, statementsText.en)).toBe('Payment QGH7 by paybill')
  expect(say(line, statementsText.sw)).toBe('Malipo QGH7 kwa paybill')
  const note = { ...line, kind: 'credit_note', number: 'CN-1', invoice: 'A-1', channel: null, remark: 'outage' } as const
  expect(say(note, statementsText.en)).toBe('Credit note CN-1 for invoice A-1: outage')
  const back = { ...line, kind: 'write_off_recovered', number: null, debit: -5 } as const
  expect(say(back, statementsText.sw)).toBe('Ankara iliyofutwa haijalipwa tena')
})

test('a refund says what became of it, once that is known', () => {
  const asked = { ...line, kind: 'refund', channel: null, remark: 'a refund was asked for', credit: -100 } as const
  expect(say(asked, statementsText.en)).toBe('Refund of payment QGH7: a refund was asked for')
  const paid = { ...asked, outcome: 'completed', reference: 'CHQ 12' } as const
  expect(say(paid, statementsText.en)).toBe('Refund of payment QGH7: paid to the payer, number CHQ 12')
  expect(say({ ...asked, outcome: 'failed' }, statementsText.sw)).toBe('Marejesho ya malipo QGH7: hayakulipwa')
})

test('a kind that is newer than the page is said by the API', () => {
  expect(say({ ...line, kind: 'of_tomorrow' as 'payment' }, statementsText.sw)).toBe('API')
})

test('the reasons that the program gives are those of its source, and are said in both languages', () => {
  const given = readdirSync('../processmanagers', { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.go'))
    .map((f) => readFileSync(join('../processmanagers', f), 'utf8')).join('\n')
  const reasons = Object.keys(statementsText.sw.ours)
  expect(reasons.filter((r) => !given.includes(`"${r}"`))).toEqual([])
  expect(reasons.length).toBeGreaterThan(3)
})

import { expect, test, vi } from 'vitest'
import { answersText, type Spoken } from '../../text/answers'
import { billOf, priceOf } from './bill'

// Catalogues ask the browser for the person's language, and read the Swahili of the long ones where it is spoken.
vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'sw' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { en, sw } = answersText
const f = { money: (amount: number, currency?: string) => `${currency} ${amount.toLocaleString('en')}` }
const invoice = (due: number) => ({ number: 'ACME-0123', total: 1500, due, currency: 'KES' })
// Names in sentences stand in marks that turn nothing round.
const plain = (text: string) => text.replace(/[\u2066-\u2069]/g, '')
const said = (t: typeof en | typeof sw, due: number, days: number) => plain(billOf(t, invoice(due), days, f).unpaid)
const spoken: Spoken = {
  since: 'Tuesday', plan: '', until: '', ahead: '', bill: '', unpaid: '', asked: '', invoiced: false, graced: false, router: 'tower', next: '',
  login: '', heard: '', out: 'tower', outSince: 'noon', lost: false, owed: '', letIn: 'paid',
}

test('of an invoice that is paid in part, what is left is told beside the whole', () => {
  expect(said(en, 1250, 4)).toBe('KES 1,250 left of invoice ACME-0123 of KES 1,500, 4 days overdue')
  expect(said(en, 1250, 1)).toBe('KES 1,250 left of invoice ACME-0123 of KES 1,500, 1 day overdue')
  expect(said(en, 1250, 0)).toBe('KES 1,250 left of invoice ACME-0123 of KES 1,500, not paid')
  expect(said(sw, 1250, 4)).toBe('ankara ACME-0123 ya KES 1,500 (imebaki KES 1,250) imechelewa siku 4')
})

test('an invoice of which nothing is paid is told whole', () => {
  expect(said(en, 1500, 4)).toBe('invoice ACME-0123 of KES 1,500 is 4 days overdue')
  expect(said(en, 1500, 0)).toBe('invoice ACME-0123 of KES 1,500 is not paid')
  expect(said(sw, 1500, 4)).toBe('ankara ACME-0123 ya KES 1,500 imechelewa siku 4')
})

test('the sentence of who is cut off has it', () => {
  const about = { ...spoken, ...billOf(en, invoice(1250), 4, f) }
  expect(plain(en.says.suspended(about))).toBe(
    'Cut off since Tuesday: KES 1,250 left of invoice ACME-0123 of KES 1,500, 4 days overdue.',
  )
  expect(plain(en.says.awaiting_payment(about))).toBe(
    'Never online yet: KES 1,250 left of invoice ACME-0123 of KES 1,500 has to be paid in full first.',
  )
})

test('the price that no invoice asks for is told whole, and with credit what is left of it', () => {
  const price = (t: typeof en | typeof sw, left: number) => plain(priceOf(t, { price: 1500, left, currency: 'KES' }, f))
  expect(price(en, 1500)).toBe('the price of KES 1,500')
  expect(price(en, 1000)).toBe('KES 1,000 left of the price of KES 1,500')
  expect(price(sw, 1000)).toBe('bei ya KES 1,500 (imebaki KES 1,000)')
  expect(price(en, 0)).toBe('the price of KES 1,500')
  expect(plain(en.says.awaiting_payment({ ...spoken, bill: price(en, 1000) }))).toBe(
    'Never online yet: KES 1,000 left of the price of KES 1,500 has to be paid in full first.',
  )
})

test('whose service has expired reads what to pay, and why it is over', () => {
  const billed = { ...spoken, asked: billOf(en, invoice(1100), 0, f).bill, invoiced: true }
  expect(plain(en.says.expired({ ...billed, until: 'Monday' }))).toBe(
    'Offline since Tuesday: the paid time is over, and KES 1,100 left of invoice ACME-0123 of KES 1,500 is to be paid.',
  )
  expect(plain(en.says.expired(billed))).toBe(
    'Offline since Tuesday: the payment for its period was taken back or moved away, '
    + 'and KES 1,100 left of invoice ACME-0123 of KES 1,500 is to be paid.',
  )
  expect(en.says.expired({ ...spoken, asked: 'the price of KES 1,500' })).toBe(
    'Offline since Tuesday: no period of it is paid any more, and the price of KES 1,500 is to be paid.',
  )
  expect(en.says.expired({ ...spoken, until: 'Monday' })).toBe('Offline since Tuesday: the paid time is over.')
  expect(plain(sw.says.expired({ ...spoken, asked: billOf(sw, invoice(1100), 0, f).bill, invoiced: true }))).toBe(
    'Nje ya mtandao tangu Tuesday: malipo ya kipindi chake yalirudishwa au yalihamishwa, '
    + 'na ankara ACME-0123 ya KES 1,500 (imebaki KES 1,100) inapaswa kulipwa.',
  )
  expect(en.now.expired).toContain('part of it is not enough')
  expect(sw.now.expired).toContain('sehemu yake haitoshi')
})

test('nobody in the days of grace is said to have paid', () => {
  const graced = { ...spoken, graced: true, until: 'Monday', asked: 'invoice ACME-0123 of KES 1,500', invoiced: true }
  const paid = { en: /^(Paid|Payment is in order)/, sw: /^(Amelip|Malipo yako sawa)/ }
  for (const [t, begins] of [[en, paid.en], [sw, paid.sw]] as const) {
    const about = Object.keys(t.says).filter((code) => /^(outage|silent|never_online|unseen|coming_back|walled_though_paid|refused_)/.test(code))
    for (const code of [...about, 'differs_paid_but_walled_in'] as (keyof typeof t.says)[]) {
      expect(t.says[code]({ ...spoken, ahead: 'Friday' }), code).toMatch(begins)
      expect(t.says[code](graced), code).not.toMatch(begins)
    }
  }
  expect(en.says.outage(graced)).toBe('Still has access, but tower has not answered since Tuesday: an outage of ours.')
  expect(en.says.grace_runs(graced).trim()).toBe(
    'The paid time ended Monday: the days of grace run, and invoice ACME-0123 of KES 1,500 is to be paid.',
  )
})

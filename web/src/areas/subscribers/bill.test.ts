import { expect, test, vi } from 'vitest'
import { answersText } from '../../text/answers'
import { billOf } from './bill'

// Catalogues ask the browser for the person's language.
vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { en, sw } = answersText
const f = { money: (amount: number, currency?: string) => `${currency} ${amount.toLocaleString('en')}` }
const invoice = (due: number) => ({ number: 'ACME-0123', total: 1500, due, currency: 'KES' })
// Names in sentences stand in marks that turn nothing round.
const plain = (text: string) => text.replace(/[\u2066-\u2069]/g, '')
const said = (t: typeof en | typeof sw, due: number, days: number) => plain(billOf(t, invoice(due), days, f).unpaid)

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
  const { bill, unpaid } = billOf(en, invoice(1250), 4, f)
  const about = {
    since: 'Tuesday', plan: '', until: '', ahead: '', bill, unpaid, router: '', next: '',
    login: '', heard: '', out: '', outSince: '',
  }
  expect(plain(en.says.suspended(about))).toBe(
    'Cut off since Tuesday: KES 1,250 left of invoice ACME-0123 of KES 1,500, 4 days overdue.',
  )
  expect(plain(en.says.awaiting_payment(about))).toBe(
    'Never online yet: KES 1,250 left of invoice ACME-0123 of KES 1,500 has to be paid in full first.',
  )
})

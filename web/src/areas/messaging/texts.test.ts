import { expect, test } from 'vitest'
import { exampleOf, faultIn, filled, partsOf, type Settings, textsOf, usualOf, writtenWith } from './texts'

const texts = (sms: string) => ({ sms, email: { subject: '', text: '' }, whatsApp: '' })
const settings: Settings = {
  language: 'sw', quietHours: null, words: { invoice: ['amount', 'pay'] },
  templates: { invoice: texts('Ankara'), receipt: texts('Risiti') },
  translations: { en: { invoice: texts('Invoice'), receipt: texts('Receipt') } },
  usual: { en: { invoice: texts('Usual') }, sw: { invoice: texts('Kawaida') } },
}

test('texts are found in every language, whichever is that of the organization', () => {
  expect(textsOf(settings, 'invoice').en.sms).toBe('Invoice')
  expect(textsOf(settings, 'invoice').sw.sms).toBe('Ankara')
  expect(usualOf(settings, 'invoice').sw.sms).toBe('Kawaida')
})

test('a write of one message takes the others along, which would be the usual ones else', () => {
  const own = { ...textsOf(settings, 'invoice'), en: { sms: 'New', subject: 'S', text: 'T', whatsApp: 'new {amount}' } }
  expect(writtenWith(settings, 'invoice', own)).toEqual({
    templates: { invoice: texts('Ankara'), receipt: texts('Risiti') },
    translations: { en: { invoice: { sms: 'New', email: { subject: 'S', text: 'T' }, whatsApp: 'new {amount}' }, receipt: texts('Receipt') } },
  })
})

test('words that a message has not, and braces alone, are found before they are sent', () => {
  expect(faultIn('{amount} is due. {pay}', ['amount', 'pay'])).toBeNull()
  expect(faultIn('{amont} is due', ['amount'])).toEqual({ unknown: 'amont' })
  expect(faultIn('{amount is due', ['amount'])).toBe('brace')
})

test('an example leaves no spaces around an empty word, and what is unknown stands as it is', () => {
  expect(filled('{amount}  due. {rest} {pay}\n', { amount: 'KES 1', rest: '', pay: 'Pay' })).toBe('KES 1 due. Pay')
  expect(filled('{amont}', {})).toBe('{amont}')
})

test('every word has an example in each language', () => {
  const all = ['org', 'account', 'link', 'amount', 'number', 'control', 'verification', 'due', 'pay', 'shortcode', 'code', 'until', 'rest', 'plan', 'portal', 'otp', 'host', 'used', 'allowed', 'resets', 'then', 'since', 'what']
  for (const language of ['en', 'sw'] as const) expect(Object.keys(exampleOf(language, 'Acme', 'KES', 'https://a/pay')).sort()).toEqual([...all].sort())
})

test('SMS are counted as phone networks count them', () => {
  expect(partsOf('')).toEqual({ parts: 0, signs: 0, outside: [] })
  expect(partsOf('a'.repeat(160)).parts).toBe(1)
  expect(partsOf('a'.repeat(161)).parts).toBe(2)
  expect(partsOf('a'.repeat(306)).parts).toBe(2)
  expect(partsOf('a'.repeat(307)).parts).toBe(3)
  expect(partsOf('€'.repeat(80))).toEqual({ parts: 1, signs: 160, outside: [] })
  expect(partsOf('’' + 'a'.repeat(69))).toEqual({ parts: 1, signs: 70, outside: ['’'] })
  expect(partsOf('’' + 'a'.repeat(70)).parts).toBe(2)
  expect(partsOf('😀')).toEqual({ parts: 1, signs: 2, outside: ['😀'] })
})

import { expect, test, vi } from 'vitest'
import type { Shape } from '../api/types'
import { answersOf } from '../areas/subscribers/answer'
import { Format } from '../text/format'
import { portalAnswersText } from '../text/portalAnswers'
import { type Facts, isOpen, said } from './said'

// Catalogues ask the browser for the person's language.
vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

type Access = Shape<'AccessResponse'>
type Code = Access['reasons'][number]['code']

const now = Date.parse('2026-11-22T12:00:00Z')
const at = (days: number) => new Date(now + days * 86_400_000).toISOString()
const f = new Format('en', { timezone: 'Africa/Nairobi', currency: 'KES' })

/** access is what a customer reads of one service: nothing of routers. */
function access(code: Code, part: Partial<Access['services'][number]> = {}, more: Partial<Access> = {}): Access {
  return {
    entitled: 'full', observed: 'online', refusals: [],
    services: [{
      subscriptionId: 's1', username: 'u', planName: 'Home 10', state: 'active', paidUntil: at(3), dunning: null, entitled: 'full',
      observed: 'online', rate: { down: 1, up: 1 }, sessions: [], difference: null, heard: null, notHeard: null, outage: null, ...part,
    }],
    reasons: [{ code, since: at(-2), cause: { type: 'event', id: 'e1' }, subscriptionId: 's1' }],
    ...more,
  }
}

const invoice: Facts['invoices'][number] = {
  id: 'i1', number: 'ACME-7', total: 1500, due: 1500, currency: 'KES', state: 'issued', subscriptionId: 's1', order: false,
}
const facts: Facts = { account: { currency: 'KES', toRenew: [] }, invoices: [invoice], now }
const plain = (text: string) => text.replace(/[\u2066-\u2069]/g, '').replace(/\u00a0/g, ' ')
const of = (a: Access, with_: Facts = facts, language: 'en' | 'sw' = 'en', due = 0) => {
  const told = said(answersOf(a, [], now, due)[0]!, with_, portalAnswersText[language], f)
  return { sentence: plain(told.sentence), help: plain(told.help) }
}

const walled = { entitled: 'walled_garden', observed: 'walled_garden' } as const
const off = { entitled: 'none', observed: 'offline' } as const

test('a service that is off says since when, why, and what brings it back', () => {
  expect(of(access('overdue', walled))).toEqual({
    sentence: 'Off since Fri, 20 Nov, 15:00, but for the pages to pay: invoice ACME-7 of KES 1,500 is to be paid.',
    help: 'It comes back within seconds after the payment.',
  })
  expect(of(access('overdue', walled), facts, 'sw').sentence).toContain('ankara ACME-7 ya KES 1,500 inapaswa kulipwa')
  expect(of(access('suspended', off), { ...facts, invoices: [{ ...invoice, due: 500 }] }).sentence)
    .toBe('Off since Fri, 20 Nov, 15:00: KES 500 of invoice ACME-7 (KES 1,500) is to be paid.')
})

test('where no invoice is open, the price is asked for', () => {
  const toRenew = [{ subscriptionId: 's1', price: 900, due: 900 }]
  expect(of(access('expired', off), { ...facts, invoices: [], account: { currency: 'KES', toRenew } }).sentence)
    .toBe('Off since Fri, 20 Nov, 15:00: the paid time is over, and the price of KES 900 is to be paid.')
  expect(of(access('expired', off), { ...facts, invoices: [] }).sentence).toBe('Off since Fri, 20 Nov, 15:00: the paid time is over.')
})

test('a service that works says until when it is paid', () => {
  expect(of(access('paid'))).toEqual({ sentence: 'Online, and paid until Wed, 25 Nov, 15:00.', help: '' })
  expect(of(access('paid', { observed: 'offline' }))).toEqual({
    sentence: 'Paid until Wed, 25 Nov, 15:00, but your router is not online.',
    help: 'Switch your router off and on, and check its cable and power.',
  })
})

test('what has ended is owed all the same', () => {
  expect(of(access('ended', { ...off, state: 'ended' }), facts, 'en', 700).sentence).toBe('Home 10 has ended Fri, 20 Nov, 15:00. KES 700 is still owed.')
})

test('each reason and each refusal that a customer can meet has a sentence in both languages', () => {
  const codes: Code[] = [
    'awaiting_payment', 'blocked', 'cap_stopped', 'cap_throttled', 'ended', 'expired', 'grace', 'not_started', 'overdue', 'paid', 'paused',
    'postpaid', 'schedule', 'suspended',
  ]
  const refusals: Access['refusals'][number]['code'][] = [
    'wrong_password', 'no_proof', 'bad_request', 'wrong_mac', 'session_limit', 'too_many_codes', 'no_session', 'unknown_user', 'wrong_secret',
    'unproven', 'unknown_nas', 'secret_doubtful', 'malformed', 'over_limit',
  ]
  const all = [
    ...codes.flatMap((code) => [access(code), access(code, walled), access(code, off)]),
    ...refusals.map((code) => access('paid', { observed: 'offline' }, {
      refusals: [{ code, at: at(-0.01), count: 1, deviceId: null, deviceName: null, subscriptionId: 's1' }],
    })),
    { ...access('paid'), services: [], reasons: [] },
  ]
  for (const language of ['en', 'sw'] as const) {
    for (const a of all) {
      const { sentence } = of(a, facts, language)
      expect(sentence, JSON.stringify(a.reasons)).not.toBe(portalAnswersText[language].other)
      expect(sentence).not.toMatch(/undefined|  |^$/)
    }
  }
})

test('drafts and what is paid are not open', () => {
  expect([{ ...invoice, state: 'draft' as const }, { ...invoice, due: 0 }, invoice].map(isOpen)).toEqual([false, false, true])
})

import { describe, expect, it, vi } from 'vitest'
import type { Shape } from '../../api/types'
import { answersText, type Spoken } from '../../text/answers'
import { type AnswerCode, answersOf, calledAmong, helpOf, isNamed } from './answer'

// Catalogues ask the browser for the person's language.
vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

type Access = Shape<'AccessResponse'>
type Service = Access['services'][number]

const now = Date.parse('2026-11-22T12:00:00Z')
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
const router = { deviceId: 'd1', deviceName: 'tower' }
const session: Service['sessions'][number] = {
  ...router, id: 'n1', subscriberId: 'c1', subscriber: null, subscriptionId: 's1', voucherId: null, username: 'u', ipAddress: null, addresses: [], macAddress: null,
  startedAt: ago(600), updatedAt: ago(1), endedAt: null, endReason: null, bytesIn: 0, bytesOut: 0, access: 'full', rate: null,
}

function service(part: Partial<Service>): Service {
  return {
    subscriptionId: 's1', username: 'u', planName: 'Home', state: 'active', paidUntil: ago(-600), dunning: null,
    entitled: 'full', observed: 'online', rate: { down: 1, up: 1 }, sessions: [session], difference: null, heard: { ...router, at: ago(1) }, notHeard: null, outage: null, ...part,
  }
}

function access(services: Service[], code: Access['reasons'][number]['code'], part: Partial<Access> = {}): Access {
  return {
    entitled: 'full', observed: 'online', services, refusals: [],
    reasons: services.map((s) => ({ code, since: ago(90), cause: { type: 'event', id: 'e1' }, subscriptionId: s.subscriptionId })),
    ...part,
  }
}

const refused = (code: Access['refusals'][number]['code'], minutes: number) => ({ ...router, code, at: ago(minutes), count: 3, subscriptionId: 's1' })
const difference = (kind: 'wrong_rate' | 'paid_but_walled_in') => ({
  ...router, id: 'x1', kind, subscriptionId: 's1', since: ago(5), actual: 'something else',
})
const outage = { ...router, since: ago(20) }
const never: Partial<Service> = { heard: null, notHeard: { since: ago(90), never: true } }
const offline = (part: Partial<Service> = {}) => service({ observed: 'offline', sessions: [], ...part })

describe('answersOf', () => {
  it.each([
    ['paid and online', access([service({})], 'paid'), 'paid', null],
    ['overdue', access([service({ entitled: 'walled_garden', observed: 'walled_garden' })], 'overdue'), 'overdue', 'take_payment'],
    ['suspended', access([offline({ entitled: 'none' })], 'suspended'), 'suspended', 'take_payment'],
    ['paused', access([offline({ entitled: 'none' })], 'paused'), 'paused', 'resume'],
    ['cap used up', access([offline({ entitled: 'none' })], 'cap_stopped'), 'cap_stopped', 'top_up'],
    ['grace', access([service({})], 'grace'), 'grace', 'take_payment'],
    ['paid and silent', access([offline()], 'paid'), 'silent', 'sessions'],
    ['paid and never there', access([offline(never)], 'paid'), 'never_online', 'credentials'],
    ['not there for as long as sessions are kept', access([offline({ heard: null, notHeard: { since: ago(9999), never: false } })], 'paid'), 'silent', 'credentials'],
    ['paid, and what was heard is not known', access([offline({ heard: null })], 'paid'), 'silent', 'sessions'],
    ['never there, and not paid', access([offline({ ...never, entitled: 'none' })], 'awaiting_payment'), 'awaiting_payment', 'take_payment'],
    ['never there, in the days of grace', access([offline(never)], 'grace'), 'never_online', 'credentials'],
    ['wrong password', access([offline()], 'paid', { refusals: [refused('wrong_password', 2)] }), 'refused_wrong_password', 'credentials'],
    ['the refusal is of yesterday', access([offline()], 'paid', { refusals: [refused('wrong_password', 1440)] }), 'silent', 'sessions'],
    ['refused as unpaid before the payment', access([offline()], 'paid', {
      refusals: [refused('unpaid', 30)],
      reasons: [{ code: 'paid', since: ago(5), cause: { type: 'event', id: 'e1' }, subscriptionId: 's1' }],
    }), 'dial_again', null],
    ['walled in though paid', access([service({ observed: 'walled_garden' })], 'paid'), 'walled_though_paid', 'disconnect'],
    ['the router is silent', access([service({ sessions: [{ ...session, updatedAt: ago(9) }] })], 'paid'), 'no_reports', 'router'],
    ['the router went away with the session', access([offline({ outage })], 'paid'), 'outage', 'router'],
    ['the router went away a moment ago', access([service({ outage })], 'paid'), 'outage', 'router'],
    ['who is overdue behind it', access([offline({ outage, entitled: 'none' })], 'suspended'), 'suspended', 'take_payment'],
    ['refused before a payment of a moment ago', access([offline()], 'paid', {
      refusals: [refused('unpaid', 2)],
      reasons: [{ code: 'paid', since: ago(1), cause: { type: 'event', id: 'e1' }, subscriptionId: 's1' }],
    }), 'coming_back', null],
    ['refused before the days of grace', access([offline()], 'grace', { refusals: [refused('unpaid', 95)], reasons: [
      { code: 'grace', since: ago(30), cause: { type: 'event', id: 'e1' }, subscriptionId: 's1' },
    ] }), 'silent', 'sessions'],
    ['refused at another router since', access([offline({ outage })], 'paid', { refusals: [refused('wrong_password', 5)] }), 'refused_wrong_password', 'credentials'],
    ['refused before it', access([offline({ outage })], 'paid', { refusals: [refused('wrong_password', 30)] }), 'outage', 'router'],
    ['no service', access([], 'paid'), 'no_subscription', 'add_service'],
    ['a program is behind', access([service({ difference: { expected: 'a', actual: 'b' } })], 'paid'), 'directory', null],
    ['a reason that is new', access([offline({ entitled: 'none' })], 'moved_away' as 'paid'), 'moved_away', null],
  ] as const)('%s', (_, given, code, step) => {
    expect(answersOf(given, [], now)[0]).toMatchObject({ code, step })
  })

  it('asks who has ended for what is still owed, and for a new service where nothing is', () => {
    const gone = access([offline({ state: 'ended', entitled: 'none' })], 'ended')
    const owing = answersOf(gone, [], now, 1500)[0]!
    expect(owing).toMatchObject({ code: 'ended', tone: 'attention', step: 'take_payment', also: ['still_owed'], owed: 1500 })
    expect(helpOf(owing)).toEqual(['ended', 'still_owed'])
    expect(answersOf(gone, [], now, 0)[0]).toMatchObject({ code: 'ended', tone: 'quiet', step: 'add_service', also: [], owed: 0 })
    // Others have sentences of their own for it.
    expect(answersOf(access([service({})], 'paid'), [], now, 1500)[0]).toMatchObject({ code: 'paid', step: null, owed: 0 })
  })

  it('knows a refusal for a block that has ended as one from before', () => {
    expect(answersOf(access([offline()], 'paid', { refusals: [refused('blocked', 5)] }), [], now)[0]).toMatchObject({ code: 'dial_again' })
  })

  it('calls what let somebody in by its name, and paid only who has paid', () => {
    const said = (letIn: 'paid' | 'resumed' | 'unblocked' | null) => answersText.en.says.coming_back({ letIn } as Spoken)
    expect(said('paid')).toMatch(/^Paid just now:/)
    expect(said('resumed')).toMatch(/^Resumed just now:/)
    expect(said('unblocked')).toMatch(/^Unblocked just now:/)
    expect(said(null)).toMatch(/^Let in again just now:/)
  })

  it('says of paid time that was taken away that it was', () => {
    const said = (lost: boolean) => answersText.en.says.expired({ since: '1 May', until: '30 Apr', asked: '', invoiced: true, lost } as Spoken)
    expect(said(false)).toBe('Offline since 1 May: the paid time is over.')
    expect(said(true)).toBe('Offline since 1 May: the payment for its period was taken back or moved away.')
  })

  it('asks to unblock a blocked customer, whatever is paid', () => {
    const given = access([offline({ entitled: 'none' })], 'paid')
    given.reasons.unshift({ code: 'blocked', since: ago(5), cause: { type: 'event', id: 'e2' }, subscriptionId: null })
    expect(answersOf(given, [], now)).toMatchObject([{ code: 'blocked', step: 'unblock', also: [] }])
  })

  it('promises nobody behind an outage that a payment brings him online, and calls nobody online who is not', () => {
    const owing = answersOf(access([offline({ outage, entitled: 'walled_garden' })], 'overdue'), [], now)[0]
    expect(owing).toMatchObject({ code: 'overdue', step: 'take_payment', also: ['behind_outage'] })
    const graced = access([offline()], 'grace', { refusals: [refused('unpaid', 40)] })
    graced.reasons[0]!.since = ago(30)
    expect(answersOf(graced, [], now)[0]).toMatchObject({ code: 'dial_again', step: 'take_payment', also: ['grace_runs'] })
  })

  it.each([
    ['overdue', 'behind_outage'], ['suspended', 'behind_outage'], ['expired', 'behind_outage'], ['awaiting_payment', 'behind_outage'],
    ['paused', 'also_outage'], ['not_started', 'also_outage'], ['cap_stopped', 'also_outage'],
    ['ended', null], ['moved_away' as 'paid', null],
  ] as const)('%s behind a router that does not answer: %s', (code, also) => {
    const found = answersOf(access([offline({ outage, entitled: 'none' })], code), [], now)[0]!
    expect(found).toMatchObject({ code, also: also ? [also] : [] })
    expect(helpOf(found)).toEqual(also === 'behind_outage' ? [also] : also ? [code, also] : [code])
  })

  it.each(['paid', 'postpaid', 'grace', 'schedule', 'cap_throttled'] as const)('%s behind a router that does not answer', (code) => {
    const also = code === 'grace' ? ['grace_runs'] : []
    expect(answersOf(access([offline({ outage })], code), [], now)[0]).toMatchObject({ code: 'outage', also })
  })

  it('tells of the days of grace beside a silent device', () => {
    expect(answersOf(access([offline()], 'grace'), [], now)[0]).toMatchObject({ code: 'silent', also: ['grace_runs'] })
    expect(answersOf(access([offline(never)], 'grace'), [], now)[0]).toMatchObject({ code: 'never_online', also: ['grace_runs'] })
  })

  it('names the services of who has several, by the login where two have the same plan', () => {
    const t = answersText.en
    const of = (...services: Service[]) => {
      const all = answersOf(access(services, 'paid'), [], now)
      return all.map((a) => calledAmong(a, all, t))
    }
    const shop = service({ subscriptionId: 's2', username: 'shop', planName: 'Duka' })
    expect(of(service({}))).toEqual([''])
    expect(of(service({}), shop)).toEqual(['Home', 'Duka'])
    expect(of(service({}), { ...shop, planName: 'Home' })).toEqual(['Home (u)', 'Home (shop)'])
    expect(isNamed('paid', 'Home')).toBe(true)
    expect(isNamed('paid', '')).toBe(false)
    expect((['ended', 'not_started'] satisfies AnswerCode[]).some((code) => isNamed(code, 'Home'))).toBe(false)
  })

  it('repairs what a router shows', () => {
    expect(answersOf(access([service({})], 'paid'), [difference('wrong_rate')], now)[0]).toMatchObject({
      code: 'differs_wrong_rate', step: 'repair', differenceId: 'x1', router: { id: 'd1', name: 'tower' },
    })
  })

  it('puts the service first that needs somebody', () => {
    const given = access([service({}), offline({ subscriptionId: 's2', entitled: 'none' })], 'paid')
    given.reasons[1] = { code: 'expired', since: ago(5), cause: { type: 'event', id: 'e' }, subscriptionId: 's2' }
    expect(answersOf(given, [], now).map((a) => a.code)).toEqual(['expired', 'paid'])
  })
})

import { expect, test, vi } from 'vitest'
import type { Format } from '../../text/format'
import type { Platform } from './today'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { homeText } = await import('../../text/home')
const { isWaiting, organizationsOf, quietOf, stoppedOf } = await import('./platform')

const t = homeText.en
const f = {
  number: (n: number) => `${n}`, money: (n: number, currency: string) => `${currency} ${n}`, relative: () => 'yesterday',
} as unknown as Format

const calm: Platform = {
  asOf: '2026-11-24T03:00:00Z', organizations: { total: 3, suspended: 1 }, suspense: [], breakers: { open: 0, failing: 0 },
  projections: { stopped: 0 }, processes: { stopped: 0 }, faults: [],
}
const away: Platform = { ...calm, organizations: null, suspense: null, processes: null }
const keys = (of: { key: string }[] | null) => of?.map((each) => each.key)

test('what was not read is told as that, and never as none', () => {
  const { none, unread } = quietOf(away, t)
  expect(keys(none)).toEqual(['breakers', 'failing', 'projections'])
  expect(keys(unread)).toEqual(['processes', 'suspense', 'orgs'])
  expect(organizationsOf(away, t, f)).toBeNull()
  expect(stoppedOf(away, t, f)).toEqual([])
  expect(isWaiting(away)).toBe(false)
  expect([t.unread, homeText.sw.unread]).toEqual(['Not read:', 'Haikusomwa:'])
})

test('what was read is a figure, or among what there is none of', () => {
  expect(keys(quietOf(calm, t).none)).toEqual(['breakers', 'failing', 'projections', 'processes', 'suspense'])
  expect(quietOf(calm, t).unread).toEqual([])
  expect(quietOf({ ...calm, organizations: { total: 0, suspended: 0 } }, t)).toEqual(quietOf(calm, t))
  const busy: Platform = {
    ...calm, suspense: [{ currency: 'KES', amount: 500, count: 2, oldestAt: '2026-11-23T03:00:00Z', late: 0 }], processes: { stopped: 1 },
    breakers: { open: 1, failing: 0 },
  }
  expect(keys(organizationsOf(busy, t, f))).toEqual(['orgs', 'KES'])
  expect(keys(stoppedOf(busy, t, f))).toEqual(['breakers', 'processes'])
  expect(keys(quietOf(busy, t).none)).toEqual(['failing', 'projections'])
  expect([calm, busy].map(isWaiting)).toEqual([false, true])
})

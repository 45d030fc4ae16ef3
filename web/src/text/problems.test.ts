import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'sw', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { problemText, sentences } = await import('./problems')
const { swahiliFailures } = await import('./failures')
const { Problem } = await import('../api/problem')
await vi.waitUntil(() => problemText.sw.codes === swahiliFailures)

// Codes whose message is a list of faults, or comes from an outside system.
const others = ['missing_field', 'invalid_input', 'invoice_out_of_range', 'management_subnet_too_large', 'provider_refused', 'router_refused']

test('each failure code of the API has Swahili words', () => {
  const codes = [...readFileSync('../docs/errors.md', 'utf8').matchAll(/^\| \d{3} \| `([a-z0-9_]+)` \|/gm)].map((m) => m[1] ?? '')
  expect(codes.length).toBeGreaterThan(200)
  expect(codes.filter((c) => !swahiliFailures[c] && !others.includes(c))).toEqual([])
  expect(Object.keys(swahiliFailures).filter((c) => !codes.includes(c))).toEqual([])
})

const refused = new Problem(422, {
  code: 'invalid_input', message: ['amount must be at most 70000', 'name is strange'],
  faults: [{ field: 'amount', code: 'above', values: ['70000'] }, { field: 'name', code: null, values: [] }],
}, null, null)

test('the faults of a form are told by their codes, and by the API where they have none', () => {
  expect(sentences(refused, problemText.sw)).toEqual(['amount: isizidi 70000.', 'name is strange'])
  expect(sentences(refused, problemText.en)).toEqual(['amount must be at most 70000', 'name is strange'])
  expect(refused.of('amount')).toBe('isizidi 70000')
  expect(refused.of('name')).toBe('is strange')
  expect(refused.of('nam')).toBeUndefined()
})

test('a failure is told with its facts, and its amounts as on all pages', () => {
  const p = new Problem(409, { code: 'credit_note_too_large', message: 'Only KES 1500.00 …', values: ['KES 1500.00'] }, null, null)
  const told = (t: typeof problemText.en) => sentences(p, t).map((s) => s.replaceAll('\u00a0', ' '))
  expect(told(problemText.sw)).toEqual(['Kwenye ankara hii, kiasi kinachoweza kurudishwa bado ni KES 1,500 tu.'])
  expect(told(problemText.en)).toEqual(['Only KES 1,500 …'])
})

test('a wait is told in minutes where it has some, and never too short', () => {
  const often = (code: string, seconds: string) => new Problem(429, { code, message: 'This phone was asked to pay too often. Paying by the paybill works meanwhile.' }, null, seconds)
  const [en] = sentences(often('too_many_prompts', '455'), problemText.en)
  expect(en).toBe('This phone was asked to pay too often. Paying by the paybill works meanwhile. Try again in 8 minutes.')
  const [sw] = sentences(often('too_many_prompts', '455'), problemText.sw)
  expect(sw).toBe('Simu hii imeombwa kulipa mara nyingi mno. Kulipa kwa paybill kunafanya kazi kwa sasa. Jaribu tena baada ya dakika 8.')
  expect(sentences(often('rate_limited', '1'), problemText.en)).toEqual(['Too many requests. Try again in 1 second.'])
  expect(sentences(often('rate_limited', '119'), problemText.en)).toEqual(['Too many requests. Try again in 119 seconds.'])
  expect(sentences(often('rate_limited', '120'), problemText.en)).toEqual(['Too many requests. Try again in 2 minutes.'])
  expect(sentences(often('rate_limited', '7201'), problemText.en)).toEqual(['Too many requests. Try again in 3 hours.'])
  expect(sentences(often('rate_limited', ''), problemText.en)).toEqual(['Too many requests. Wait a moment, then try again.'])
})

import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'sw', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { problemText, sentences } = await import('./problems')
const { swahiliFailures } = await import('./failures')
const { Problem } = await import('../api/problem')
await vi.waitUntil(() => problemText.sw.codes === swahiliFailures, { timeout: 60_000 })
const { englishFaults, fieldsText, nameOfField } = await import('./fields')
// Of two languages the one that is spoken is read; the tests say both.
problemText.en.faults = englishFaults
problemText.en.field = (path) => nameOfField(path, fieldsText.en)

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
  expect(sentences(refused, problemText.sw)).toEqual(['Kiasi: isizidi 70000.', 'Jina is strange.'])
  expect(sentences(refused, problemText.en)).toEqual(['Amount must be at most 70000.', 'Name is strange.'])
  expect(refused.of('amount')).toBe('isizidi 70000')
  expect(refused.of('name')).toBe('is strange')
  expect(refused.of('nam')).toBeUndefined()
})

const fault = (field: string, text: string, code: string | null, ...values: string[]) =>
  new Problem(422, { code: 'invalid_input', message: [`${field} ${text}`], faults: [{ field, code, values }] }, null, null)

test('a clerk reads the name that the form has, and letters instead of bytes', () => {
  const long = fault('firstName', 'must have at most 100 bytes', 'too_many_bytes', '100')
  expect(sentences(long, problemText.en)).toEqual(['First name is too long: at most 100 letters, fewer with accents or in other scripts.'])
  expect(sentences(long, problemText.sw)).toEqual([
    'Jina la kwanza: ni ndefu mno: herufi zisizozidi 100, na chache zaidi zikiwa na alama au za maandishi mengine.',
  ])
  expect(long.of('firstName')).toMatch(/^ni ndefu mno/)
  const line = fault('lines[1].unitPrice', 'is required', 'required')
  expect([sentences(line, problemText.en), sentences(line, problemText.sw)]).toEqual([['Price of one (2) is required.'], ['Bei ya moja (2): inahitajika.']])
  expect(sentences(fault('dueDate', 'must be a date, YYYY-MM-DD', 'date'), problemText.en)).toEqual(['Due on must be a day, such as 2026-11-20.'])
  expect(sentences(fault('policies.Shops.graceDays', 'must be from 0 to 365', 'out_of_range', '0', '365'), problemText.en))
    .toEqual(['Days of grace must be from 0 to 365.'])
  // A field that no form has, and a text that no field begins.
  expect(sentences(fault('ipv6.delegatedPool', 'is odd', null), problemText.en)).toEqual(['Delegated pool is odd.'])
  const bare = new Problem(400, { code: 'bad_request', message: ['The body must be one valid JSON object.'] }, null, null)
  expect(sentences(bare, problemText.en)).toEqual(['The body must be one valid JSON object.'])
})

test('no words of programs are told in English, and none of them is told by a code that is gone', () => {
  const source = readFileSync('../internal/failure/fault_codes.go', 'utf8')
  const texts = [...source.matchAll(/^\t"(\w+)": +"([^"]+)"/gm)].map(([, code = '', text = '']) => [code, text] as const)
  expect(texts.length).toBeGreaterThan(80)
  const raw = /bytes|YYYY|RFC|ISO|IANA|DNS|Luhn|host bits|poolStart|rates\.|before to$|after to$|admin,|cpe-|dunning settings|components need/
  expect(texts.filter(([code, text]) => raw.test(text) && !englishFaults[code]).map(([code]) => code)).toEqual([])
  expect(Object.keys(englishFaults).filter((code) => !texts.some(([known]) => known === code))).toEqual([])
  const said = Object.values(englishFaults).map((says) => says?.(['1', '2']) ?? '')
  expect(said.filter((text) => raw.test(text) || text.includes('undefined') || text.endsWith('.'))).toEqual([])
})

test('a fault calls a field as its form does', async () => {
  const [subscribers, plans, customer, settings, services, routerSetup, billing, identity, policies, signin, taking, vouchers, onu] =
    (await Promise.all([
      import('./subscribers').then((m) => m.subscribersText), import('./plans').then((m) => m.plansText),
      import('./customer').then((m) => m.customerText), import('./settings').then((m) => m.settingsText),
      import('./services').then((m) => m.servicesText), import('./routerSetup').then((m) => m.routerSetupText),
      import('./billing').then((m) => m.billingText), import('./identity').then((m) => m.identityText),
      import('./policies').then((m) => m.policiesText), import('./signin').then((m) => m.signInText),
      import('./taking').then((m) => m.takingText), import('./vouchers').then((m) => m.vouchersText),
      import('./onu').then((m) => m.onuText),
    ])) as unknown as Record<'en' | 'sw', Record<string, unknown>>[]
  const forms: [of: Record<'en' | 'sw', Record<string, unknown>> | undefined, fields: Record<string, string>][] = [
    [subscribers, { firstName: 'firstName', lastName: 'lastName', phone: 'phone', email: 'email', address: 'address', taxPin: 'taxPin', tags: 'tags', notes: 'notes', username: 'username', startDate: 'startDate' }],
    [plans, { code: 'code', price: 'price', 'billing.period': 'period', down: 'down', up: 'up', sessionLimit: 'sessions', 'cap.bytes': 'capBytes', dunningPolicy: 'policy', pool: 'pool', thresholdUp: 'thresholdUp', schedule: 'schedule', days: 'days' }],
    [customer, { staticIp: 'staticIp', macAddresses: 'macs', bytes: 'gigabytes' }],
    [settings, { invoicePrefix: 'prefix', taxPin: 'taxPin', tax: 'components', holidays: 'holidays', country: 'country', timezone: 'timezone', shortcode: 'shortcode', passkey: 'passkey' }],
    [services, { vlanId: 'vlanId', subnet: 'subnet', gateway: 'gateway', poolStart: 'poolStart', poolEnd: 'poolEnd', domains: 'domains', addresses: 'gardenAddresses', parentInterface: 'interface' }],
    [routerSetup, { apiPort: 'apiPort', coaPort: 'coaPort', apiUsername: 'apiUsername', apiPassword: 'apiPassword', radiusSecret: 'radiusSecret', managementAddress: 'managementAddress', ipAddress: 'ipAddress' }],
    [billing, { dueDate: 'dueDate', quantity: 'quantity', unitPrice: 'unitPrice', description: 'description', lines: 'lines' }],
    [identity, { role: 'role', temporaryPassword: 'temporary' }],
    [policies, { reminderDays: 'reminderDays', graceDays: 'graceDays', walledGardenDays: 'walledGardenDays', writeOffDays: 'writeOffDays', minimumDue: 'minimumDue', messageHours: 'messageHours', noCutDays: 'cuts' }],
    [onu, { 'onu.olt': 'olt', 'onu.port': 'port', 'onu.serial': 'serial', 'onu.vlan': 'vlan' }],
    [signin, { currentPassword: 'currentPassword', password: 'password' }],
    [taking, { reference: 'reference' }],
    [vouchers, { count: 'count', planId: 'plan' }],
  ]
  const other = (['en', 'sw'] as const).flatMap((language) => forms.flatMap(([texts, fields]) =>
    Object.entries(fields).filter(([field, key]) => nameOfField(field, fieldsText[language]) !== texts?.[language][key])
      .map(([field, key]) => `${language} ${field}: ${nameOfField(field, fieldsText[language])}, in the form ${String(texts?.[language][key])}`)))
  expect(other).toEqual([])
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

import { expect, test } from 'vitest'
import { brought, inWords, merged, taken, withPart } from './edited'

const form = (v: { name: string; other?: number }) => ({ name: v.name })
const at = (etag: string, name: string, other = 0) => ({ value: { name, other }, etag })

test('a form that nobody touched follows what is read', () => {
  expect(merged(at('2', 'new'), null, form)).toEqual({
    values: { name: 'new' }, dirty: false, meanwhile: false, etag: '2',
  })
})

test('what is typed stays, and the change of somebody else is told with the revision of before', () => {
  const edits = { base: at('1', 'old'), values: { name: 'mine' } }
  expect(merged(at('1', 'old'), edits, form)).toMatchObject({ dirty: true, meanwhile: false, etag: '1' })
  expect(merged(at('2', 'theirs'), edits, form)).toEqual({
    values: { name: 'mine' }, dirty: true, meanwhile: true, etag: '1',
  })
})

test('a change of what the form does not show, and one to the same values, stop nobody', () => {
  const edits = { base: at('1', 'old'), values: { name: 'mine' } }
  expect(merged(at('2', 'old', 7), edits, form)).toMatchObject({ dirty: true, meanwhile: false, etag: '2' })
  expect(merged(at('2', 'mine'), edits, form)).toMatchObject({ dirty: false, meanwhile: false, etag: '2' })
})

test('what was typed and put back holds nothing up, and the next letter begins with what is read now', () => {
  const edits = { base: at('1', 'old'), values: { name: 'old' } }
  expect(merged(at('2', 'theirs'), edits, form)).toEqual({ values: { name: 'theirs' }, dirty: false, meanwhile: false, etag: '2' })
  expect(withPart(at('2', 'theirs'), edits, form, { name: 'mine' })).toEqual({ base: at('2', 'theirs'), values: { name: 'mine' } })
  const more = { base: at('1', 'old'), values: { name: 'my' }, lost: { name: 'first' } }
  expect(withPart(at('2', 'theirs'), more, form, { name: 'mine' })).toEqual({ ...more, values: { name: 'mine' } })
})

const before = { name: 'Asha', phone: '0712', tags: ['a'], notes: '' }

test.each([
  ['what the other one left alone stays as it was typed', { notes: 'green' }, { phone: '0799' }, { phone: '0799', notes: 'green' }, {}],
  ['what both have changed is the value of the other one', { name: 'Aisha' }, { name: 'Asia' }, { name: 'Asia' }, { name: 'Aisha' }],
  ['what both have changed to the same is nobody’s loss', { name: 'Asia' }, { name: 'Asia' }, { name: 'Asia' }, {}],
  ['a field that was emptied counts as typed', { phone: '' }, { phone: '0799' }, { phone: '0799' }, { phone: '' }],
  ['a field of several values is one field', { tags: ['a', 'b'] }, { tags: ['c'] }, { tags: ['c'] }, { tags: ['a', 'b'] }],
  ['what nobody typed follows', {}, { name: 'Asia', tags: [] }, { name: 'Asia', tags: [] }, {}],
  ['what nobody else changed stays', { name: 'Aisha', tags: [] }, {}, { name: 'Aisha', tags: [] }, {}],
])('%s', (_, typed, theirs, values, lost) => {
  expect(brought(before, { ...before, ...typed }, { ...before, ...theirs })).toEqual({ values: { ...before, ...values }, lost })
})

test('of secrets that somebody replaced meanwhile none that was typed stays', () => {
  const gateway = { shortcode: '600200', passkey: '', version: 'a' }
  const secrets = { version: 'version', fields: ['passkey'] } as const
  const typed = { ...gateway, passkey: 'mine' }
  expect(brought(gateway, typed, { ...gateway, shortcode: '600300' }, secrets))
    .toEqual({ values: { shortcode: '600300', passkey: 'mine', version: 'a' }, lost: {} })
  expect(brought(gateway, typed, { ...gateway, version: 'b' }, secrets))
    .toEqual({ values: { ...gateway, version: 'b' }, lost: { passkey: 'mine' } })
  const read = { value: { ...gateway, version: 'b' }, etag: '2' }
  expect(merged(read, { base: { value: gateway, etag: '1' }, values: typed }, (v) => v)).toMatchObject({ meanwhile: true, etag: '1' })
})

test('who takes the new values twice is still told of what was lost the first time', () => {
  const read = (etag: string, of: Partial<typeof before>) => ({ value: { ...before, ...of }, etag })
  const same = (v: typeof before) => v
  const first = taken(read('2', { name: 'Asia' }), { base: read('1', {}), values: { ...before, name: 'Aisha', notes: 'x' } }, same)
  expect(first).toEqual({ base: read('2', { name: 'Asia' }), values: { ...before, name: 'Asia', notes: 'x' }, lost: { name: 'Aisha' } })
  const second = taken(read('3', { name: 'Asia', notes: 'y' }), first, same)
  expect(second.lost).toEqual({ name: 'Aisha', notes: 'x' })
  expect(merged(read('3', { name: 'Asia', notes: 'y' }), second, same)).toMatchObject({ dirty: false, meanwhile: false, etag: '3' })
})

test('what was typed into any field can be told', () => {
  expect(['Asia', 7, [1, 2], { from: '08:00', to: '20:00' }, [{ name: 'VAT', compound: false }], null, true].map(inWords))
    .toEqual(['Asia', '7', '1, 2', '08:00 20:00', 'VAT', '', ''])
})

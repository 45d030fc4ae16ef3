import { expect, test } from 'vitest'
import { merged } from './edited'

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

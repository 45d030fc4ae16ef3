import { describe, expect, it } from 'vitest'
import { countOf, linesOf, ratesOf } from './difference'

describe('a difference', () => {
  it('shows both sides, what differs first', () => {
    expect(linesOf({ expected: { a: '1', b: '2' }, actual: { a: '1', c: '' } })).toEqual([
      { field: 'b', expected: '2', actual: null, differs: true },
      { field: 'c', expected: null, actual: '', differs: true },
      { field: 'a', expected: '1', actual: '1', differs: false },
    ])
  })
  it('counts what its repair writes', () => {
    const kinds = ['missing', 'extra', 'orphan', 'changed', 'changed'] as const
    expect(countOf(kinds.map((kind) => ({ kind })))).toEqual({ missing: 1, changed: 2, gone: 2 })
  })
})

describe('the limit of a queue', () => {
  it('is upload before download', () => expect(ratesOf('5000000/10000000')).toEqual({ down: 10_000, up: 5000 }))
  it('is read as people write it, too', () => expect(ratesOf('512k/1.5M')).toEqual({ down: 1500, up: 512 }))
  it('is none where there is none', () => {
    expect(ratesOf('0/0')).toEqual({ down: null, up: null })
    expect(ratesOf('')).toEqual({ down: null, up: null })
  })
})

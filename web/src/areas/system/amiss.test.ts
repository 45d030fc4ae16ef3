import { expect, test } from 'vitest'
import { amissOf, conditionOf } from './amiss'

test('what is called and fails is told apart from what answers', () => {
  expect(conditionOf({ state: 'closed', failures: 0 })).toBe('closed')
  expect(conditionOf({ state: 'closed', failures: 1 })).toBe('failing')
  expect(conditionOf({ state: 'open', failures: 5 })).toBe('open')
  expect(conditionOf({ state: 'half_open', failures: 5 })).toBe('half_open')
})

test('everything that does not do its work needs a look, and nothing else', () => {
  const rebuild = { generation: 2, version: 2, position: 1, head: 9 }
  const part = { key: 'k', command: null, since: null, waiting: 0 }
  expect(amissOf({})).toBe(0)
  expect(amissOf({
    parts: [{ state: 'up' }],
    processes: [{ state: 'running', stopped: [] }, { state: 'history', stopped: [] }],
    projections: [{ state: 'live', rebuild: null }, { state: 'behind', rebuild }],
    breakers: [{ state: 'closed', failures: 0 }],
  })).toBe(0)
  expect(amissOf({ parts: [{ state: 'down' }] })).toBe(1)
  expect(amissOf({ processes: [{ state: 'stopped', stopped: [] }, { state: 'running', stopped: [part, part] }] })).toBe(2)
  expect(amissOf({ projections: [{ state: 'stopped', rebuild: null }, { state: 'live', rebuild: { ...rebuild, error: 'no' } }] })).toBe(2)
  expect(amissOf({
    breakers: [{ state: 'open', failures: 5 }, { state: 'half_open', failures: 5 }, { state: 'closed', failures: 1 }],
  })).toBe(3)
})

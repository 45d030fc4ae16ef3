import { expect, test } from 'vitest'
import { toneOf } from './compared'

test('a statement needs somebody when it failed or differs', () => {
  const none = { matched: 3, missingHere: 0, missingThere: 0, different: 0, withdrawals: 1, charges: 2, reversals: 0, failed: 0, missingHereAmount: 0, attention: 0, kinds: [] }
  expect(toneOf({ state: 'compared', figures: none })).toBe('good')
  for (const part of ['missingHere', 'missingThere', 'different', 'attention']) {
    expect(toneOf({ state: 'compared', figures: { ...none, [part]: 1 } })).toBe('attention')
  }
  expect(toneOf({ state: 'adopting', figures: { ...none, missingHere: 1 } })).toBe('quiet')
  expect(toneOf({ state: 'failed', figures: none })).toBe('bad')
})

import { expect, test } from 'vitest'
import { moveOf } from './moves'

const moves = [{ at: '2026-11-22T12:00:00.123456789Z', n: 1 }, { at: '2026-11-22T12:00:05Z', n: 2 }]

test('an entry of the log finds its own move, however fine its instant is kept', () => {
  expect(moveOf(moves, { action: 'payments.ReattributeReceipt', at: '2026-11-22T12:00:00.123456Z' })?.n).toBe(1)
  expect(moveOf(moves, { action: 'payments.ReattributeReceipt', at: '2026-11-22T12:00:05.000Z' })?.n).toBe(2)
})

test('an entry of something else, and a move that is not read yet, find none', () => {
  expect(moveOf(moves, { action: 'payments.ReverseReceipt', at: '2026-11-22T12:00:05Z' })).toBeUndefined()
  expect(moveOf(moves, { action: 'payments.ReattributeReceipt', at: '2026-11-22T12:00:06Z' })).toBeUndefined()
})

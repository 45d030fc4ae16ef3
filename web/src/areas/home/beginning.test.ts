import { expect, test } from 'vitest'
import { begins, stepsOf } from './beginning'

const figures = (customers: number, routers: number | null) => ({
  customers: { total: customers, newThisMonth: 0 },
  devices: routers === null ? null : { total: routers, up: 0, down: 0, unknown: 0 },
})
const done = (customers: number, routers: number, plans: number, paying: boolean) =>
  stepsOf(figures(customers, routers), plans, paying).filter((s) => s.done).map((s) => s.code)

test('who has neither customers nor routers begins, and who serves many does not', () => {
  expect(begins(figures(0, 0))).toBe(true)
  expect(begins(figures(0, 3))).toBe(true)
  expect(begins(figures(1, 0))).toBe(true)
  expect(begins(figures(500, 0))).toBe(false)
  expect(begins(figures(1, 1))).toBe(false)
  expect(begins(figures(1, null))).toBe(false)
})

test('a step is ticked when there is what it makes, and all are gone when all are done', () => {
  expect(done(0, 0, 0, false)).toEqual([])
  expect(done(0, 0, 1, false)).toEqual(['plan'])
  expect(done(0, 2, 0, true)).toEqual(['gateway', 'router'])
  expect(stepsOf(figures(0, 0), 0, false).map((s) => s.code)).toEqual(['plan', 'gateway', 'router', 'customer'])
  expect(stepsOf(figures(1, 1), 1, true)).toEqual([])
})

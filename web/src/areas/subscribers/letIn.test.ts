import { expect, it } from 'vitest'
import { letInBy } from './letIn'

const at = (second: number) => new Date(Date.parse('2026-11-22T12:00:00Z') + second * 1000).toISOString()
const entry = (code: 'payment_credited' | 'subscription_extended' | 'subscription_resumed' | 'subscriber_unblocked' | 'credit_left', second: number, about = 's1') => ({
  eventId: `${code} ${second}`, at: at(second), code, cause: { type: 'subscription' as const, id: about },
})
const since = (second: number, by: string) => ({ since: at(second), cause: { id: by }, subscriptionId: 's1' })

it.each([
  ['a payment', since(2, 'subscription_extended 2'), [entry('subscription_extended', 2, 'i1'), entry('payment_credited', 1)], 'paid'],
  ['credit that nobody paid now', since(500, 'subscription_extended 500'), [entry('subscription_extended', 500, 'i1'), entry('payment_credited', 1)], null],
  ['the end of a pause', since(2, 'subscription_resumed 2'), [entry('subscription_resumed', 2), entry('payment_credited', 1)], 'resumed'],
  ['the end of a pause, paid afterwards', since(2, 's1'), [entry('subscription_resumed', 3)], 'resumed'],
  ['the end of the pause of another service', since(2, 's1'), [entry('subscription_resumed', 3, 's2')], null],
  ['the end of a block after a payment', since(2, 'subscription_extended 2'), [
    entry('subscriber_unblocked', 9), entry('subscription_extended', 2, 'i1'), entry('payment_credited', 1),
  ], 'unblocked'],
  ['a block that had ended before', since(12, 'subscription_extended 12'), [
    entry('subscription_extended', 12, 'i1'), entry('payment_credited', 11), entry('subscriber_unblocked', 9),
  ], 'paid'],
  ['what the timeline does not have yet', since(2, 'subscription_extended 2'), [entry('payment_credited', 1)], null],
  ['a correction', since(2, 'period_cancelled 2'), [entry('credit_left', 3)], null],
] as const)('%s', (_, reason, happened, by) => {
  expect(letInBy(reason, [...happened])).toBe(by)
})

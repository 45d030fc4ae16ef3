import { expect, test } from 'vitest'
import { stillOff } from './outcome'

type Reason = Parameters<typeof stillOff>[0][number]
const reason = (code: Reason['code'], subscriptionId: string | null = 's1'): Reason => ({ code, subscriptionId })

test('a part payment starts nothing of who never had access, and brings back nothing of who had', () => {
  expect(stillOff([reason('awaiting_payment')])).toBe('notStarted')
  expect(stillOff([reason('awaiting_payment'), reason('awaiting_payment', 's2')])).toBe('notStarted')
  expect(stillOff([reason('expired')])).toBe('stillOff')
  expect(stillOff([reason('awaiting_payment'), reason('suspended', 's2')])).toBe('stillOff')
  expect(stillOff([])).toBe('stillOff')
})

test('who is blocked or paused is off for other reasons than money', () => {
  expect(stillOff([reason('awaiting_payment'), reason('blocked', null)])).toBe('notMoney')
  expect(stillOff([reason('paused')])).toBe('notMoney')
})

import { expect, test } from 'vitest'
import { channelOf } from './fault'

test('the channel of a task has no name for people', () => {
  expect(channelOf('task_5f3a')).toBeNull()
  expect(channelOf('lastmile-health')).toBe('lastmile-health')
})

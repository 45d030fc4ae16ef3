import { expect, test } from 'vitest'
import { fileNameOf, toneOfCampaign } from './campaign'

test('a deployment that has stopped needs somebody', () => {
  expect(toneOfCampaign({ state: 'stopped', failed: 5 })).toBe('bad')
  expect(toneOfCampaign({ state: 'running', failed: 1 })).toBe('attention')
  expect(toneOfCampaign({ state: 'running', failed: 0 })).toBe('quiet')
  expect(toneOfCampaign({ state: 'finished', failed: 0 })).toBe('good')
})

test('a name on a disk becomes one that is taken', () => {
  expect(fileNameOf('HomeBox 2 (v2.1).bin')).toBe('HomeBox-2-v2.1-.bin')
  expect(fileNameOf(' ñ.bin')).toBe('.bin')
  expect(fileNameOf('a'.repeat(120))).toHaveLength(100)
})

import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { batchesText } = await import('../text/batches')
const { undoSaid } = await import('./undoSaid')

test('a batch is taken back once nothing of it stands; until then it is said how much', () => {
  const said = (made: number, stands: number, state: 'running' | 'finished' = 'finished') =>
    undoSaid({ made, stands, undo: { state } }, batchesText.en, { number: String })
  expect(said(50, 0)).toBe('It was taken back')
  expect(said(50, 25)).toBe('Taken back: 25 of 50')
  expect(said(50, 40, 'running')).toBe('It is being taken back')
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { drawnOf, rowHeight } from './drawn'

test('what is seen is drawn at every height, with rows before and after it', () => {
  for (const count of [1, 40, 1000]) {
    for (let top = -rowHeight; top < count * rowHeight; top += 7) {
      const bottom = top + 600
      const { from, to } = drawnOf(top, bottom, count)
      expect(from).toBeLessThanOrEqual(Math.max(0, Math.floor(top / rowHeight) - 4))
      expect(to).toBeGreaterThanOrEqual(Math.min(count, Math.ceil(bottom / rowHeight) + 4))
      expect(to - from).toBeLessThan(45)
    }
  }
})

test('a list that has become shorter than where somebody was shows its end', () => {
  const { from, to } = drawnOf(90_000, 90_600, 50)
  expect(to).toBe(50)
  expect(from).toBeLessThan(32)
})

test('a list without rows has nothing to draw', () => {
  expect(drawnOf(0, 600, 0)).toEqual({ from: 0, to: 0 })
})

test('a row is as high as its style says', () => {
  const style = readFileSync(join(__dirname, 'ui.css'), 'utf8')
  expect(/\.rows th,\s*\.rows td \{\s*height: (\d+)px;/.exec(style)?.[1]).toBe(String(rowHeight))
})

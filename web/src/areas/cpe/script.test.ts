import { expect, test } from 'vitest'
import { comes, lineIn, namesScript, rangeOf } from './script'

const text = 'const a = 1;\n\nlog(a);'

test('the line at which a script is refused is found in its text', () => {
  const line = (n: number) => text.slice(...rangeOf(text, n))
  expect([1, 2, 3].map(line)).toEqual(['const a = 1;', '', 'log(a);'])
  expect(line(9)).toBe('')
})

test('an answer names a line, or none', () => {
  expect(lineIn({ line: 3 })).toBe(3)
  for (const details of [undefined, {}, { line: 0 }, { line: '3' }]) expect(lineIn(details)).toBeNull()
})

test('a name has letters, digits and two signs', () => {
  for (const name of ['wifi-channel', 'A_1', 'x'.repeat(64)]) expect(namesScript(name), name).toBe(true)
  for (const name of ['', 'a/b', 'a b', 'ñ', 'x'.repeat(65)]) expect(namesScript(name), name).toBe(false)
})

test('a script is looked at again as long as it comes or goes', () => {
  expect(comes({ state: 'waiting' }) && comes({ state: 'removing' })).toBe(true)
  expect(comes({ state: 'installed' }) || comes({ state: 'refused' }) || comes(undefined)).toBe(false)
})

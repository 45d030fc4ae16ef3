import { expect, test } from 'vitest'
import { csvOf } from './csv'

test('what has commas or quotes is quoted, and no text is a formula', () => {
  expect(csvOf([['code', 'plan'], ['A-1', 'Day, "fast"'], ['-1', '=1+1']])).toBe(
    'code,plan\r\nA-1,"Day, ""fast"""\r\n\'-1,\'=1+1\r\n',
  )
})

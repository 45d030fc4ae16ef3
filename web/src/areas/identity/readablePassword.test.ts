import { expect, test } from 'vitest'
import { readablePassword } from './readablePassword'

test('a temporary password can be said on the phone, is long enough, and is another one each time', () => {
  const made = Array.from({ length: 200 }, () => readablePassword())
  for (const p of made) expect(p).toMatch(/^([bdfgkmprstvz][aeiou]){2}-([bdfgkmprstvz][aeiou]){2}-([bdfgkmprstvz][aeiou]){2}-[2-9]{4}$/)
  expect(new Set(made).size).toBe(200)
})

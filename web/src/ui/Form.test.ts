import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const src = join(__dirname, '..')

test('every form of the pages is a Form, in which nothing changes while it saves', () => {
  const own = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx') && readFileSync(join(src, file), 'utf8').includes('<form'))
  expect(own).toEqual(['ui/Form.tsx'])
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const src = join(__dirname, '..')
const library = join(src, '../node_modules/@mantine/core')

// Names of the library in the sources of the pages.
function used(): Set<string> {
  const names = new Set<string>()
  for (const file of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(file)) continue
    const text = readFileSync(join(src, file), 'utf8')
    for (const [, list = ''] of text.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)) {
      for (const name of list.split(',')) names.add(name.trim().replace(/^type /, ''))
    }
  }
  return names
}

// A part of the library is a folder; the modules that it imports from other folders are the parts that it is made of.
function partsOf(name: string, parts = new Set<string>()): Set<string> {
  if (parts.has(name)) return parts
  const folder = join(library, 'esm/components', name)
  let files: string[]
  try {
    files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.mjs'))
  } catch {
    return parts // a function, not a part
  }
  parts.add(name)
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, , other] of text.matchAll(/from '(\.\.\/)+([A-Z]\w+)\/[\w/.-]+'/g)) if (other) partsOf(other, parts)
  }
  return parts
}

test('the style of each part of the library that is used is read', () => {
  const read = readFileSync(join(src, 'ui/library.css'), 'utf8')
  const styles = new Set(readdirSync(join(library, 'styles')))
  const parts = new Set([...used(), 'Notification'].flatMap((name) => [...partsOf(name)]))
  parts.delete('Accordion') // a menu takes its arrow alone, which has no style
  const missing = [...parts].filter((p) => styles.has(`${p}.css`) && !read.includes(`/${p}.css'`))
  expect(parts.size).toBeGreaterThan(40)
  expect(missing.sort()).toEqual([])
})

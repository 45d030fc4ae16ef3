import { readdirSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { auditText } = await import('./audit')

// Values that are unique have no entry, and a refusal is about what was asked for.
const unseen = ['claim', 'refusal']

/** textsIn gives what stands in a file where the pattern has its group. */
const textsIn = (file: string, of: RegExp) => [...readFileSync(file, 'utf8').matchAll(of)].map((found) => found[1] ?? '')

/** aggregates are the kinds of things that the program changes, and the parts of them that the audit log names instead. */
function aggregates(): string[] {
  const folder = '../commands'
  return readdirSync(folder)
    .filter((f) => f.endsWith('.go') && !f.endsWith('_test.go'))
    .flatMap((f) => textsIn(`${folder}/${f}`, /Category +(?:string +)?= "([^"]+)"/g))
    .concat(textsIn('../projections/audit/audit.go', /targetType\b[^"\n]*"([a-z]+)"/g))
    .filter((name) => !unseen.includes(name))
}

/** addresses are the first words of the paths that need a sign-in: a refused call is about these, with an API key also one that reads. */
function addresses(): string[] {
  type Described = { paths: Record<string, Record<string, { security?: unknown[] }>> }
  const { paths } = JSON.parse(readFileSync('src/api/openapi.json', 'utf8')) as Described
  const signed = Object.entries(paths).filter(([, of]) =>
    Object.entries(of).some(([method, call]) => method !== 'parameters' && (call.security?.length ?? 0) > 0))
  return [...new Set(signed.map(([path]) => path.split('/')[1] ?? ''))]
}

test('the audit log has words for each kind of thing that it names, in each language', () => {
  const kinds = [...aggregates(), ...addresses()]
  expect(aggregates().length).toBeGreaterThan(20)
  expect(addresses().length).toBeGreaterThan(10)
  for (const { targets } of Object.values(auditText)) {
    expect(kinds.filter((name) => !targets[name])).toEqual([])
    expect(Object.keys(targets).filter((name) => !kinds.includes(name))).toEqual([])
  }
})

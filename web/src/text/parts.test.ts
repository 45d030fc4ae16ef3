import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { guide, partHelp, partsText } = await import('./parts')

const api = readFileSync('../httpapi/reports/platform.go', 'utf8')
// The parts of which the API has a sentence, with it.
const sentences = [...(/partFaults = map\[string\]string\{([^}]*)\}/.exec(api)?.[1] ?? '').matchAll(/"(\w+)": *"([^"]+)\."/g)]

test('every part has a name, what is said when it is down, and a step, in both languages', () => {
  const parts = sentences.map(([, part]) => part).sort()
  expect(parts).toContain('eventstore')
  for (const t of [partsText.en, partsText.sw]) {
    for (const words of [t.names, t.down, t.steps]) expect(Object.keys(words).sort()).toEqual(parts)
  }
  expect(Object.fromEntries(sentences.map(([, part, says]) => [part, says]))).toEqual(partsText.en.down)
})

test('a step leads to a section that the guide of operations has', () => {
  const sections = [...readFileSync('../docs/operations.md', 'utf8').matchAll(/^#+ (.*)$/gm)].map((m) => m[1])
  for (const [part, section] of Object.entries(guide)) {
    expect(sections).toContain(section)
    expect(partHelp(part, partsText.en)).toContain(`“${section}”`)
  }
  expect(partHelp('identity_directory', partsText.en, ['identity_directory', 'eventstore'])).toContain('Do not restart')
  for (const part of ['jobs', 'writes', 'access_directory']) {
    expect(partHelp(part, partsText.en, [part, 'postgres'])).toContain('Do not restart')
  }
  expect(partHelp('jobs', partsText.en, ['jobs', 'eventstore'])).toContain('Start a program')
  expect(partHelp('unheard_of', partsText.en)).toContain('“First look”')
})

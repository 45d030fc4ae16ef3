import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { waits } = await import('../areas/system/amiss')
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
  expect(partHelp('unheard_of', partsText.en)).toContain('“First look”')
})

test('a part that waits for another one comes back with it, as the API says', () => {
  const part = (name: string, state: 'up' | 'down', ...waitsFor: string[]) => ({ name, state, waitsFor })
  const helpOf = (of: ReturnType<typeof part>, ...all: ReturnType<typeof part>[]) => partHelp(of.name, partsText.en, waits(of, [of, ...all]))
  const directory = part('identity_directory', 'down', 'postgres', 'eventstore')
  expect(helpOf(directory, part('eventstore', 'down'))).toContain('Do not restart')
  expect(helpOf(directory, part('eventstore', 'up'), part('accounting', 'down'))).toContain('install a version that can')
  for (const name of ['jobs', 'writes', 'access_directory']) {
    expect(helpOf(part(name, 'down', 'postgres'), part('postgres', 'down'))).toContain('Do not restart')
  }
  expect(helpOf(part('jobs', 'down', 'postgres'), part('eventstore', 'down'))).toContain('Start a program')
  expect(waits(part('jobs', 'up', 'postgres'), [part('postgres', 'down')])).toBe(false)
  // Which part waits for which one is the server's to say, also of a part that this page has not heard of.
  expect(helpOf(part('unheard_of', 'down', 'postgres'), part('postgres', 'down'))).toContain('Do not restart')
})

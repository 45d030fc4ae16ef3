import { readdirSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { actionsEnglish } = await import('./actions')
const { actions } = await import('./actionsSwahili')

/** commands are the names of all commands of the program, which the audit log writes down. */
function commands(): string[] {
  const folder = '../commands'
  return readdirSync(folder)
    .filter((f) => f.endsWith('.go') && !f.endsWith('_test.go'))
    .flatMap((f) => [...readFileSync(`${folder}/${f}`, 'utf8').matchAll(/CommandName\(\) string +\{ return "([^"]+)" \}/g)])
    .map((found) => found[1] ?? '')
    .filter((name) => name !== 'audit.NoteRefusal') // a refusal has the name of its route
}

test('the audit log has words for each command, in each language', () => {
  const names = commands()
  expect(names.length).toBeGreaterThan(100)
  for (const words of [actionsEnglish, actions] as Record<string, string>[]) {
    expect(names.filter((name) => !words[name])).toEqual([])
    expect(Object.keys(words).filter((name) => name !== 'router.write' && !names.includes(name))).toEqual([])
  }
})

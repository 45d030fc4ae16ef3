import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('navigator', { language: 'en' })
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

// Words that mean one thing on every page. Others, such as "paid", follow the class of the noun beside them.
const one = [
  'username', 'router', 'customer', 'plan', 'invoice', 'receipt', 'voucher', 'session', 'amount', 'phone', 'down / up',
  'ask the provider now', 'the pin is locked. the customer has to have it unlocked by the provider.',
]

/** pairs gives each plain English text of a catalogue with its Swahili one. */
function pairs(en: unknown, sw: unknown): [string, string][] {
  if (typeof en === 'string' && typeof sw === 'string') return [[en.toLowerCase(), sw.toLowerCase()]]
  if (typeof en !== 'object' || en === null) return []
  return Object.entries(en).flatMap(([name, text]) => pairs(text, (sw as Record<string, unknown> | undefined)?.[name]))
}

test('a word that means one thing is one word in Swahili, too', async () => {
  const said = new Map<string, Set<string>>(one.map((word) => [word, new Set()]))
  for (const read of Object.values(import.meta.glob(['./*.ts', '!./*.test.ts']))) {
    for (const of of Object.values((await read()) as Record<string, unknown>)) {
      const { en, sw } = (of ?? {}) as { en?: unknown; sw?: unknown }
      for (const [english, swahili] of pairs(en, sw)) said.get(english)?.add(swahili)
    }
  }
  for (const [word, swahili] of said) expect([...swahili], word).toHaveLength(1)
})

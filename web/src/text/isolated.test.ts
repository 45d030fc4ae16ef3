import { expect, test, vi } from 'vitest'
import { filling, isolated, visible } from './isolated'

test('a name that turns the direction reaches no further than itself', () => {
  expect(isolated('\u202eAmina')).toBe('\u2068\u202eAmina\u2069')
  expect(isolated('أمينة')).toBe('\u2068أمينة\u2069')
  expect(isolated('\u2069\u202eAmina')).toBe('\u2068\u202eAmina\u2069')
  expect(isolated('\u2067Amina')).toBe('\u2068\u2067Amina\u2069\u2069')
})

test('what cannot turn anything stays as it is, to be searched and copied', () => {
  for (const name of ['Amina Otieno', 'Zoë Ng’ang’a', 'KES 1,500', '10 Mbps']) expect(isolated(name)).toBe(name)
})

test('every sentence isolates what it is filled with: texts, lists of them, and facts', () => {
  const says = filling({
    of: { credited: (amount: string, name: string) => `${amount} credited to ${name}` },
    all: (names: string[]) => names.join(', '),
    told: (e: { plan: string; days: number }) => `${e.plan} for ${e.days} days`,
  })
  expect(says.of.credited('1,500', '\u202eX')).toBe('1,500 credited to \u2068\u202eX\u2069')
  expect(says.all(['A', '\u202eX'])).toBe('A, \u2068\u202eX\u2069')
  expect(says.told({ plan: '\u202eX', days: 3 })).toBe('\u2068\u202eX\u2069 for 3 days')
})

test('the texts of the pages are such sentences', async () => {
  vi.stubGlobal('navigator', { language: 'en' })
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('document', { documentElement: {} })
  const { uiText } = await import('./ui')
  expect(uiText.en.backTo('\u202eX')).toBe('Go to \u2068\u202eX\u2069')
  expect(uiText.sw.backTo('\u202eX')).toContain('\u2068\u202eX\u2069')
})

test('what was typed as a reference is read whole and in its order, with what nobody sees', () => {
  expect(visible('DEMO-\u202e2100\u202c')).toBe('DEMO-<U+202E>2100<U+202C>')
  expect(visible('0012\u200b\u0000\n')).toBe('0012<U+200B><U+0000><U+000A>')
  for (const text of ['=1+1', 'أمينة', 'Zoë Ng’ang’a', '👩\u200d💻', '<b>0012</b>']) expect(visible(text)).toBe(text)
})

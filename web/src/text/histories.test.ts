import { expect, test, vi } from 'vitest'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' })
  vi.stubGlobal('document', { documentElement: {} })
})

const { historiesText, historyOf } = await import('./histories')

test('an entry is told in the language, with the words of the router as they came', () => {
  const refused = {
    kind: 'write_refused', summary: 'API', facts: { operation: 'add', path: '/ip/pool', name: 'pool-1', message: 'no such item' },
  } as const
  expect(historyOf(refused, historiesText.en)).toEqual(['The router refused a write', '/ip/pool pool-1, added: “no such item”'])
  expect(historyOf(refused, historiesText.sw)).toEqual(['Ruta ilikataa kuandikiwa', '/ip/pool pool-1, iliongezwa: “no such item”'])
  const asked = { kind: 'requested', summary: 'API', facts: { service: 'pppoe', interface: 'ether4', vlan: 20 } } as const
  expect(historyOf(asked, historiesText.en)[1]).toBe('PPPoE on VLAN 20 of ether4')
  expect(historyOf({ kind: 'repaired', summary: 'API', facts: {} }, historiesText.en)).toEqual(['Difference repaired', ''])
})

test('a kind that is newer than the page is told by the API', () => {
  expect(historyOf({ kind: 'of_tomorrow' as 'changed', summary: 'It is new.', facts: {} }, historiesText.sw)).toEqual(['of tomorrow', 'It is new.'])
})

import { expect, test, vi } from 'vitest'
import { mayCall, type Role } from '../../api/access'
import { helpWordsOf } from './help'

vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined })
  vi.stubGlobal('document', { documentElement: {} })
})

const { homeText } = await import('../../text/home')
const { differencesText } = await import('../../text/differences')

const kinds = ['router_down', 'provider_down', 'gateway_unregistered', 'service_failed', 'service_degraded', 'router_drifted'] as const
const may = (role: Role) => (operation: Parameters<typeof mayCall>[1]) => mayCall(role, operation)

test('who may not do what helps is told to ask an administrator, and not to do it', () => {
  for (const kind of kinds) {
    expect(helpWordsOf(kind, homeText.en, may('support')), kind).toMatch(/administrator can/)
    expect(helpWordsOf(kind, homeText.sw, may('support')), kind).toMatch(/Msimamizi anaweza/)
    expect(helpWordsOf(kind, homeText.en, may('admin')), kind).toBe(homeText.en.help[kind])
  }
})

test('every kind of difference that its list names has words on Home, in both languages', () => {
  for (const language of ['en', 'sw'] as const) {
    expect(Object.keys(homeText[language].differences).sort()).toEqual(Object.keys(differencesText[language].kinds).sort())
  }
})

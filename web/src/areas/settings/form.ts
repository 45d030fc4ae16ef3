import type { Problem } from '../../api/problem'
import type { Shape } from '../../api/types'
import { type Component, rateOf } from './tax'

export type Settings = Shape<'SettingsResponse'>

/** SettingsValues is what the form of the organization's settings holds. */
interface SettingsValues {
  name: string
  timezone: string
  country: string
  invoicePrefix: string
  taxPin: string
  mode: 'inclusive' | 'exclusive'
  components: Component[]
  holidays: string[]
  suspenseDays: number | ''
  stripRealm: boolean
  requireSecondFactor: boolean
}

/** Fields is what each part of the form gets. */
export interface Fields {
  values: SettingsValues
  set: (part: Partial<SettingsValues>) => void
  problem: Problem | null
}

/** settingsForm makes the form's content of what was read. */
export function settingsForm(s: Settings): SettingsValues {
  return {
    name: s.name,
    timezone: s.timezone,
    country: s.country,
    invoicePrefix: s.invoicePrefix,
    taxPin: s.taxPin,
    mode: s.tax.mode,
    components: s.tax.components.map((c) => ({ name: c.name, rate: String(c.rate), compound: c.compound ?? false })),
    holidays: [...s.holidays].sort(),
    suspenseDays: s.suspenseDays,
    stripRealm: s.stripRealm,
    requireSecondFactor: s.requireSecondFactor,
  }
}

/** settingsWritten makes the body of the write of the form's content. */
export function settingsWritten(v: SettingsValues): Shape<'SettingsRequest'> {
  return {
    name: v.name,
    timezone: v.timezone,
    country: v.country,
    invoicePrefix: v.invoicePrefix,
    taxPin: v.taxPin,
    holidays: v.holidays,
    stripRealm: v.stripRealm,
    requireSecondFactor: v.requireSecondFactor,
    ...(v.suspenseDays === '' ? {} : { suspenseDays: v.suspenseDays }),
    tax: {
      mode: v.mode,
      components: v.components.map((c) => ({
        name: c.name.trim(),
        rate: rateOf(c.rate) ?? 0,
        ...(c.compound ? { compound: true } : {}),
      })),
    },
  }
}

import type { Shape } from '../../api/types'

/** Policy is the rules by which those who owe are reminded and cut. */
export type Policy = Shape<'PolicyResponse'>

/** Policies is all that GET /settings/dunning answers. */
export type Policies = Shape<'DunningResponse'>

/** weekdays in the words of the API, and the order of the week. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

export type Weekday = (typeof weekdays)[number]

/** Step is a moment of a policy, in days after the due day. */
interface Step {
  day: number
  what: 'reminder' | 'due' | 'walled_garden' | 'suspended' | 'written_off'
}

/**
 * stepsOf gives what a policy does to somebody who never pays, in its order. Days without cuts and late programs put
 * steps off; they are not in here. A debt that is old enough is given up instead of being cut off.
 */
export function stepsOf(p: Policy): Step[] {
  const off = p.graceDays + p.walledGardenDays
  const steps: Step[] = [
    ...p.reminderDays.map((day): Step => ({ day, what: 'reminder' })),
    { day: 0, what: 'due' },
    ...(p.walledGardenDays > 0 ? [{ day: p.graceDays, what: 'walled_garden' as const }] : []),
    ...(off < p.writeOffDays ? [{ day: off, what: 'suspended' as const }] : []),
    { day: Math.max(off, p.writeOffDays), what: 'written_off' },
  ]
  return steps.sort((a, b) => a.day - b.day || order.indexOf(a.what) - order.indexOf(b.what))
}

const order: Step['what'][] = ['reminder', 'due', 'walled_garden', 'suspended', 'written_off']

/** Stretch is the time between two steps, in which the customer has one kind of access. */
interface Stretch {
  access: 'full' | 'grace' | 'walled_garden' | 'none'
  days: number
}

/** stretchesOf gives the access of somebody who never pays, from the first reminder to the proposed write-off. */
export function stretchesOf(p: Policy): Stretch[] {
  const off = p.graceDays + p.walledGardenDays
  const before = Math.max(1, ...p.reminderDays.map((d) => -d))
  const stretches: Stretch[] = [
    { access: 'full', days: before },
    { access: 'grace', days: p.graceDays },
    { access: 'walled_garden', days: p.walledGardenDays },
    { access: 'none', days: Math.max(0, p.writeOffDays - off) },
  ]
  return stretches.filter((s) => s.days > 0)
}

/** CutTime is what a policy says about cuts on a weekday. */
export type CutTime = { when: 'always' } | { when: 'never' } | { when: 'before'; time: string }

/** cutTimeOf gives what holds on a weekday. */
export function cutTimeOf(p: Policy, day: Weekday): CutTime {
  if (p.noCutDays.includes(day)) return { when: 'never' }
  const time = p.noCutAfter[day]
  return time === undefined ? { when: 'always' } : { when: 'before', time }
}

/** withCutTime changes what holds on a weekday. */
export function withCutTime(p: Policy, day: Weekday, cut: CutTime): Policy {
  const { [day]: _, ...others } = p.noCutAfter
  const days = weekdays.filter((d) => (d === day ? cut.when === 'never' : p.noCutDays.includes(d)))
  return inOrder({ ...p, noCutDays: days, noCutAfter: cut.when === 'before' ? { ...others, [day]: cut.time } : others })
}

/** readDays reads days that were typed, such as "-7, -3, 0"; null = something else stands there. */
export function readDays(text: string): number[] | null {
  const parts = text.replaceAll('−', '-').split(/[\s,;]+/).filter(Boolean)
  if (!parts.every((d) => /^[+-]?\d{1,3}$/.test(d))) return null
  return [...new Set(parts.map(Number))].sort((a, b) => a - b)
}

/** inOrder puts the days of a policy into the order of the calendar, so that equal policies are written alike. */
export function inOrder(p: Policy): Policy {
  return {
    ...p,
    reminderDays: [...p.reminderDays].sort((a, b) => a - b),
    noCutDays: weekdays.filter((d) => p.noCutDays.includes(d)),
    noCutAfter: Object.fromEntries(weekdays.flatMap((d) => (p.noCutAfter[d] === undefined ? [] : [[d, p.noCutAfter[d]]]))),
  }
}

/** without leaves one named policy out. */
export function without(all: Policies, name: string): Policies['policies'] {
  const { [name]: _, ...others } = all.policies
  return others
}

/** Visit is when somebody looked at the home page on this device. */
interface Visit {
  /** since is the end of the visit before this one; null = there was none. */
  since: number | null
  /** seen is the last time within this visit. */
  seen: number
}

// Who comes back within this time has not been away: a reload, a walk through other pages.
const away = 30 * 60_000

/** looked gives the visit to which a look belongs. */
export function looked(before: Visit | null, now: number): Visit {
  if (!before) return { since: null, seen: now }
  return now - before.seen > away ? { since: before.seen, seen: now } : { ...before, seen: Math.max(before.seen, now) }
}

const key = (person: string) => `lastmile.looked.${person}`

/** readVisit gives what this device knows of a person's last look; null = nothing. */
export function readVisit(person: string): Visit | null {
  try {
    const v: unknown = JSON.parse(localStorage.getItem(key(person)) ?? 'null')
    const ok = typeof v === 'object' && v !== null && 'seen' in v && typeof v.seen === 'number' && 'since' in v
    return ok ? { seen: v.seen as number, since: typeof v.since === 'number' ? v.since : null } : null
  } catch {
    return null
  }
}

/** keepVisit has this device know it. */
export function keepVisit(person: string, visit: Visit) {
  localStorage.setItem(key(person), JSON.stringify(visit))
}

/** Freshness is how much the differences of a router say of now. */
type Freshness = 'unseen' | 'never' | 'fresh' | 'old'

// Routers are compared every few minutes. After so long without one nothing looks at it, as when the program was stopped.
const old = 3_600_000

/** freshnessOf judges the latest look at a router by its age, since a program that stands still sees nothing amiss. */
export function freshnessOf(look: { lookedAt: string | null; unseenSince: string | null }, now: number): Freshness {
  if (look.unseenSince) return 'unseen'
  if (!look.lookedAt) return 'never'
  return now - Date.parse(look.lookedAt) < old ? 'fresh' : 'old'
}

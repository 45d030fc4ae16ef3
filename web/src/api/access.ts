import { access, type Operation } from './access.gen'

export type { Operation }

export type Role = 'super_admin' | 'admin' | 'support' | 'subscriber'

const rank: Record<string, number> = { public: 0, subscriber: 1, support: 2, admin: 3, super_admin: 4 }

/** mayCall reports whether the API lets a role make a call. The server decides; pages only leave out what it refuses. */
export function mayCall(role: Role, operation: Operation): boolean {
  const needed = access[operation] ?? ''
  // What customers do for themselves, staff does for them, but not who only reads.
  if (needed === 'subscriber_or_admin') return role !== 'support'
  return rank[role]! >= (rank[needed] ?? Number.POSITIVE_INFINITY)
}

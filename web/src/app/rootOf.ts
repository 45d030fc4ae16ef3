import type { Shape } from '../api/types'

/** rootOf is where an operator of the platform signs in who visits an organization; null for everybody else. */
export function rootOf(me: Pick<Shape<'MeResponse'>, 'role' | 'org'>, at: { protocol: string; host: string }): string | null {
  if (me.role !== 'super_admin' || !me.org) return null
  return `${at.protocol}//${at.host.slice(at.host.indexOf('.') + 1)}/app/`
}

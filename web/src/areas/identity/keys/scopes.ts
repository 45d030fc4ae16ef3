import type { Shape } from '../../../api/types'

type Role = Shape<'ApiKeyRequest'>['role']

/** Resource is one of the things that keys may be allowed to read or to change, as far as the role of a key goes. */
export interface Resource {
  name: string
  read: boolean
  write: boolean
}

/** Chosen says of each resource that is chosen at all whether it may be changed; else it is only read. */
export type Chosen = Record<string, 'read' | 'write'>

/** resourcesOf lists what a key of a role can have, in the order in which the API lists it. */
export function resourcesOf(scopes: Shape<'ScopeResponse'>[], role: Role): Resource[] {
  const found = new Map<string, Resource>()
  for (const { scope, roles } of scopes) {
    if (!roles.includes(role)) continue
    const [name = '', way] = scope.split(':')
    const resource = found.get(name) ?? { name, read: false, write: false }
    found.set(name, way === 'write' ? { ...resource, write: true } : { ...resource, read: true })
  }
  return [...found.values()]
}

/** scopesOf writes what is chosen; what the role cannot have, since another one was chosen afterwards, is left out. */
export function scopesOf(chosen: Chosen, resources: Resource[]): string[] {
  return resources.flatMap(({ name, read, write }) => {
    const way = chosen[name]
    if (way === 'write') return write ? [`${name}:write`] : read ? [`${name}:read`] : []
    return way === 'read' && read ? [`${name}:read`] : []
  })
}

/** linesOf takes a text apart into addresses, which stand in lines or behind commas. */
export const linesOf = (text: string) => text.split(/[\s,]+/).filter(Boolean)

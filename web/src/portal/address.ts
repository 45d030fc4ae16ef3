import { useSyncExternalStore } from 'react'
import { leave, newVersionWaits } from './updates'

const base = '/portal/'
const listeners = new Set<() => void>()

function subscribe(changed: () => void) {
  listeners.add(changed)
  window.addEventListener('popstate', changed)
  return () => {
    listeners.delete(changed)
    window.removeEventListener('popstate', changed)
  }
}

/** Address is a page of the portal with what its address says. */
export interface Address {
  /** page is what stands behind /portal/; empty = Home. */
  page: string
  query: URLSearchParams
}

/** addressOf reads an address of the portal. */
export function addressOf(url: { pathname: string; search: string }): Address {
  return { page: url.pathname.slice(base.length).replace(/\/+$/, ''), query: new URLSearchParams(url.search) }
}

/** useAddress follows the address of the page. */
export function useAddress(): Address {
  return addressOf(new URL(useSyncExternalStore(subscribe, () => location.href)))
}

/** to writes an address of the portal; what is empty is left out. */
export function to(page: string, query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))
  const search = new URLSearchParams(given).toString()
  return `${base}${page}${search && `?${search}`}`
}

/** go opens a page of the portal. Where a new version of it waits, that one is opened. */
export function go(address: string, how: 'push' | 'replace' = 'push') {
  if (how === 'push' && newVersionWaits()) return leave(() => location.assign(address))
  if (how === 'push') history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  for (const changed of listeners) changed()
  if (how === 'replace') return
  scrollTo(0, 0)
  // Whoever hears the page is told where it leads; the next Tab is the first control of the new page.
  document.getElementById('content')?.focus()
}

import { createContext, use } from 'react'
import type { Row } from '../api/rows'
import type { Shape } from '../api/types'
import type { portalPagesText } from '../text/portalPages'

/** Account is a subscriber whom this person sees. */
export type Account = Row<'/me/subscribers'>

/** Own is who is signed in, with the accounts that the person sees. */
interface Own {
  me: Shape<'MeResponse'>
  accounts: Account[]
  /** account is the one that the page is about. */
  account: Account
}

export const OwnContext = createContext<Own | null>(null)

/** useOwn gives who is signed in, and whose account the page is about. */
export function useOwn(): Own {
  const own = use(OwnContext)
  if (!own) throw new Error('useOwn outside of the pages')
  return own
}

/** chosenOf is the account that an address names, or the first one that asks for money, or the first one. */
export function chosenOf(accounts: Account[], id: string | null): Account | undefined {
  return accounts.find((a) => a.id === id) ?? accounts.find((a) => a.due > 0) ?? accounts[0]
}

/** nameOf names an account by its person. */
export function nameOf(a: Pick<Account, 'firstName' | 'lastName'>, t: Pick<typeof portalPagesText.en, 'nameless'>): string {
  return [a.firstName, a.lastName].filter(Boolean).join(' ') || t.nameless
}

/** phonesOf are the phones that this person may have asked for money: the contact of the account, and the own one. */
export function phonesOf(a: Pick<Account, 'phone'>, me: Pick<Shape<'MeResponse'>, 'phone'>): string[] {
  return [...new Set([a.phone, me.phone].filter((p) => p !== null))]
}

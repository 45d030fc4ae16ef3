import { useEffect, useState } from 'react'
import { api } from '../api/client'

/** Recent is a customer that this person has opened on this device. */
interface Recent {
  id: string
  name: string
  account: string
}

const kept = 8
const key = (person: string) => `lastmile.recent.${person}`

/** recentOf reads the customers that a person has opened last, the newest first. */
function recentOf(person: string): Recent[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(key(person)) ?? '[]')
    return Array.isArray(list) ? list.filter(isRecent) : []
  } catch {
    return []
  }
}

const isRecent = (r: unknown): r is Recent => {
  return typeof r === 'object' && r !== null && 'id' in r && 'name' in r && 'account' in r
}

/** added puts a customer at the head of a list of others. */
function added(list: Recent[], now: Recent): Recent[] {
  return [now, ...list].slice(0, kept)
}

/** forgetRecent leaves no name of a customer on this device. */
export function forgetRecent(person: string) {
  localStorage.removeItem(key(person))
}

/** useRecent gives the customers that were opened last, as they were when the caller was drawn first. */
export function useRecent(person: string): Recent[] {
  return useState(() => recentOf(person))[0]
}

/**
 * RememberCustomer keeps the customer whose page is open, and no more when the person was forgotten. It reads nothing: it
 * waits for what the page reads.
 */
export function RememberCustomer({ id, person }: { id: string; person: string }) {
  const { data } = api.useQuery('get', '/subscribers/{id}', { params: { path: { id } } }, { enabled: false })
  const name = [data?.firstName, data?.lastName].filter(Boolean).join(' ')
  const account = data?.accountNumber ?? ''
  const forgotten = data?.status === 'forgotten'
  useEffect(() => {
    if (!name && !forgotten) return
    const others = recentOf(person).filter((r) => r.id !== id)
    localStorage.setItem(key(person), JSON.stringify(forgotten ? others : added(others, { id, name, account })))
  }, [id, name, account, forgotten, person])
  return null
}

import { createContext, use } from 'react'
import { mayCall, type Operation, type Role } from '../api/access'
import type { Shape } from '../api/types'

/** Person is who uses the pages, and where. */
interface Person {
  me: Shape<'MeResponse'>
  role: Role
  /** platform = the root host, where only super_admin signs in. */
  platform: boolean
}

export const PersonContext = createContext<Person | null>(null)

/** usePerson gives who is signed in. Pages inside the shell always have somebody. */
export function usePerson(): Person {
  const person = use(PersonContext)
  if (!person) throw new Error('usePerson outside of the shell')
  return person
}

/** useMay gives the test whether this person may make a call; what fails it is not shown. */
export function useMay(): (operation: Operation) => boolean {
  const { role } = usePerson()
  return (operation) => mayCall(role, operation)
}

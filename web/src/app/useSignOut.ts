import { useMutation } from '@tanstack/react-query'
import { client } from '../api/client'
import { asProblem, type Problem } from '../api/problem'

/**
 * useSignOut ends the session. The page lets go of the person only when the server has done it, or knows of no session:
 * whoever is told that he is signed out is.
 */
export function useSignOut(forget: () => void = () => undefined) {
  const out = useMutation<void, Problem>({
    mutationFn: async () => {
      try {
        await client.POST('/auth/logout')
      } catch (cause) {
        if (asProblem(cause).status !== 401) throw cause
      }
    },
    onSuccess: () => {
      forget()
      location.assign('/app/')
    },
  })
  // The page that comes next takes the place of the button.
  return { signOut: () => out.mutate(), pending: out.isPending || out.isSuccess, problem: out.error, again: out.reset }
}

import { useMutation } from '@tanstack/react-query'
import { client } from '../api/client'
import { asProblem, type Problem } from '../api/problem'

/** openStaff opens the pages of staff anew: nothing of the person stays. */
export const openStaff = () => location.assign('/app/')

/**
 * useSignOut ends the session. The page lets go of the person only when the server has done it, or knows of no session:
 * whoever is told that he is signed out is. `leave` opens the page that comes next. `gone` = this browser has no session
 * any more, though the server could not end its own.
 */
export function useSignOut(leave = openStaff) {
  const out = useMutation<void, Problem>({
    mutationFn: async () => {
      try {
        await client.POST('/auth/logout')
      } catch (cause) {
        if (asProblem(cause).status !== 401) throw cause
      }
    },
    onSuccess: leave,
  })
  // The page that comes next takes the place of the button.
  return {
    signOut: () => out.mutate(),
    pending: out.isPending || out.isSuccess,
    problem: out.error,
    gone: out.error?.code === 'sign_out_unfinished',
    leave,
    again: out.reset,
  }
}

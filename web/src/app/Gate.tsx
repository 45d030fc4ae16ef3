import { Modal } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import type { Role } from '../api/access'
import { client } from '../api/client'
import { asProblem } from '../api/problem'
import { answered, whenSignedOut } from '../api/session'
import { listen } from '../api/stream'
import type { Shape } from '../api/types'
import { NewPassword } from '../areas/identity/NewPassword'
import { SignIn } from '../areas/identity/SignIn'
import { SignInPage } from '../areas/identity/SignInPage'
import { identityText } from '../text/identity'
import { useText } from '../text/catalogue'
import { type Zone, ZoneContext } from '../text/format'
import { ProblemNote } from '../ui/ProblemNote'
import { setServerTime } from './clock'
import { PersonContext } from './person'

/** Gate lets in who is signed in. A session that ends later is renewed above the page, where nothing typed is lost. */
export function Gate({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const me = useQuery({
    queryKey: ['get', '/auth/me', {}],
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: async ({ signal }) => {
      const { data } = await client.GET('/auth/me', { signal })
      setServerTime(data!.now)
      return data!
    },
  })
  const [must, setMust] = useState(false)
  const signedIn = (mustChangePassword: boolean) => {
    setMust(mustChangePassword)
    if (!mustChangePassword) void queries.invalidateQueries()
  }
  const problem = me.error && asProblem(me.error)
  if (must || me.data?.mustChangePassword) {
    return (
      <SignInPage>
        <NewPassword
          onDone={() => {
            setMust(false)
            void queries.invalidateQueries()
          }}
        />
      </SignInPage>
    )
  }
  if (problem?.status === 401) return <SignInPage><SignIn onDone={signedIn} /></SignInPage>
  if (problem) return <SignInPage><ProblemNote of={problem} retry={() => void me.refetch()} /></SignInPage>
  if (!me.data) return null
  return <SignedIn me={me.data}>{children}</SignedIn>
}

/** SignedIn gives the pages the person and the organization's zone, and keeps them live. */
function SignedIn({ me, children }: { me: Shape<'MeResponse'>; children: ReactNode }) {
  const queries = useQueryClient()
  const t = useText(identityText)
  const role = me.role as Role
  const platform = me.org === null
  const person = useMemo(() => ({ me, role, platform }), [me, role, platform])
  const settings = useQuery({
    queryKey: ['get', '/settings/organization', {}],
    enabled: !platform && role !== 'subscriber',
    queryFn: async ({ signal }) => (await client.GET('/settings/organization', { signal })).data!,
  })
  const timezone = settings.data?.timezone
  const currency = settings.data?.currency
  const zone = useMemo<Zone>(() => {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone
    return { timezone: timezone ?? own, currency: currency ?? 'KES' }
  }, [timezone, currency])
  const [asking, setAsking] = useState(false)
  useEffect(() => whenSignedOut(() => setAsking(true)), [])
  useEffect(() => listen(queries), [queries])
  return (
    <PersonContext value={person}>
      <ZoneContext value={zone}>
        {children}
        {asking && (
          <Modal
            opened
            onClose={() => undefined}
            withCloseButton={false}
            closeOnEscape={false}
            closeOnClickOutside={false}
            title={t.sessionEnded}
          >
            <SignIn
              email={me.email ?? ''}
              hint={t.sessionEndedHint}
              onDone={() => {
                setAsking(false)
                answered(true)
              }}
            />
          </Modal>
        )}
      </ZoneContext>
    </PersonContext>
  )
}

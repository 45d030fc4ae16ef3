import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import type { Role } from '../api/access'
import { readAgain, readUntilRead } from '../api/again'
import { client } from '../api/client'
import { asProblem, type Problem } from '../api/problem'
import { answered, belongsTo, type Lost, renewsBehind, whenSignedOut } from '../api/session'
import { listen } from '../api/stream'
import type { Shape } from '../api/types'
import { SignIn } from '../areas/identity/SignIn'
import { ClosedPage, SignInPage } from '../areas/identity/SignInPage'
import { signInText } from '../text/signin'
import { useText } from '../text/catalogue'
import { type Zone, ZoneContext } from '../text/format'
import { Late } from '../ui/Late'
import { later } from '../ui/later'
import { ProblemNote } from '../ui/ProblemNote'
import { focusFirst } from '../ui/useFocusHere'
import { setServerTime } from './clock'
import { PersonContext } from './person'
import { useSignOut } from './useSignOut'

const EnrolFirst = later(async () => (await import('../areas/identity/EnrolFirst')).default)
const NewPassword = later(() => import('../areas/identity/NewPassword').then((m) => m.NewPassword))

// It is read while the session lasts, since later the program may have other files, but not with the page.
const sessionEndedAfter = 60_000
const SessionEnded = later(async () => (await import('./SessionEnded')).default)

/** Gate lets in who is signed in. A session that ends later is renewed above the page, where nothing typed is lost. */
export function Gate({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const t = useText(signInText)
  const me = useQuery({
    queryKey: ['get', '/auth/me', {}],
    staleTime: Number.POSITIVE_INFINITY,
    // Told at once, since nothing else is on the page.
    retry: false,
    refetchInterval: untilOpen,
    queryFn: async ({ signal }) => {
      const { data } = await client.GET('/auth/me', { signal })
      setServerTime(data!.now)
      belongsTo(data!.id)
      renewsBehind(data!.role === 'super_admin' && data!.org !== null)
      return data!
    },
  })
  const [must, setMust] = useState(false)
  const signedIn = (mustChangePassword: boolean) => {
    setMust(mustChangePassword)
    focusFirst()
    if (!mustChangePassword) void queries.invalidateQueries()
  }
  const problem = useProblem(me)
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
  if (me.data?.mustEnrolSecondFactor) {
    return (
      <SignInPage>
        <Stack gap="sm">
          <EnrolFirst onDone={() => void queries.invalidateQueries()} />
          <SignOut />
        </Stack>
      </SignInPage>
    )
  }
  if (isSuspended(problem)) return <ClosedPage title={t.suspended} hint={t.suspendedHint} />
  // Once somebody is inside, a read of the person that fails takes no page away.
  if (me.data) return me.data.role === 'subscriber' ? <CustomerHere /> : <SignedIn me={me.data}>{children}</SignedIn>
  if (problem?.status === 404) return <ClosedPage title={t.unknownPlace} hint={t.unknownPlaceHint} />
  if (problem?.status === 401) return <SignInPage><SignIn onDone={signedIn} /></SignInPage>
  if (problem) return <SignInPage><ProblemNote of={problem} retry={() => void me.refetch()} /></SignInPage>
  return <Opening />
}

/** Opening stands where the head of the page comes, while a server that is slow is asked who this is. */
function Opening() {
  const t = useText(signInText)
  return (
    <Late>
      <Skeleton height={48} radius={0} />
      <Text role="status" size="sm" c="dimmed" p="md">{t.opening}</Text>
    </Late>
  )
}

/** isSuspended: a suspension ends, and the page that tells of it then goes on by itself. */
const isSuspended = (error: object | null) => error !== null && asProblem(error).code === 'organization_suspended'

/** untilOpen has the person read again while something that can pass keeps him out. */
const untilOpen = (read: { state: { error: object | null } }) => readUntilRead(read) || (isSuspended(read.state.error) && readAgain)

/** useProblem gives why the person could not be read. It stays while he is read again, so that its words do not flicker. */
function useProblem({ error, isPending }: { error: object | null; isPending: boolean }): Problem | null {
  const [last, setLast] = useState<object | null>(null)
  if (!isPending && error !== last) setLast(error)
  const now = error ?? (isPending ? last : null)
  const problem = now && asProblem(now)
  // Who has just signed in has nothing to do in the form any more.
  return problem?.status === 401 && !error ? null : problem
}

/** CustomerHere leads a customer to the pages of customers. */
function CustomerHere() {
  useEffect(() => location.replace('/portal/'), [])
  return <Opening />
}

/** SignOut leaves a page that has nothing else for this person. */
function SignOut() {
  const t = useText(signInText)
  const out = useSignOut()
  return (
    <>
      {out.problem && <ProblemNote of={out.problem} />}
      <Button variant="default" onClick={out.gone ? out.leave : out.signOut} loading={out.pending} style={{ alignSelf: 'start' }}>
        {t.signOut}
      </Button>
    </>
  )
}

/** whenLookedAt calls back whenever somebody comes back to this window from another one. */
function whenLookedAt(look: () => void) {
  window.addEventListener('focus', look)
  return () => window.removeEventListener('focus', look)
}

/** SignedIn gives the pages the person and the organization's zone, and keeps them live. */
function SignedIn({ me, children }: { me: Shape<'MeResponse'>; children: ReactNode }) {
  const queries = useQueryClient()
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
  const [asking, setAsking] = useState<Lost | 'newPassword' | null>(null)
  useEffect(() => {
    const timer = setTimeout(SessionEnded.preload, sessionEndedAfter)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => whenSignedOut((why) => setAsking((now) => now ?? why)), [])
  useEffect(() => listen(queries, me.id ?? ''), [queries, me.id])
  useEffect(() => whenLookedAt(() => void client.GET('/auth/me').catch(() => undefined)), [])
  return (
    <PersonContext value={person}>
      <ZoneContext value={zone}>
        {children}
        {asking && (
          <SessionEnded
            me={me}
            step={asking}
            onStep={setAsking}
            onDone={() => {
              setAsking(null)
              answered(true)
            }}
          />
        )}
      </ZoneContext>
    </PersonContext>
  )
}

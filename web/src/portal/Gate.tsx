import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ComponentProps, lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from 'react'
import { readAgain, readUntilRead } from '../api/again'
import { client } from '../api/client'
import { asProblem } from '../api/problem'
import { useRows } from '../api/rows'
import { answered, belongsTo, whenSignedOut } from '../api/session'
import type { Shape } from '../api/types'
import { setServerTime } from '../app/clock'
import { useSignOut } from '../app/useSignOut'
import { pagesOf } from '../areas/identity/chosen'
import { useText } from '../text/catalogue'
import { ZoneContext } from '../text/format'
import { portalPagesText } from '../text/portalPages'
import { signInText } from '../text/signin'
import { chosenOf, OwnContext } from './accounts'
import { useAddress } from './address'
import { NewVersion } from './NewVersion'
import { Button, Note, Page, Waiting } from './parts'
import { Shell } from './Shell'
import { openPortal } from './updates'

// Whoever is signed in has no need of it.
const Form = lazy(() => import('./SignIn'))

const noFilters = {}
const meKey = ['get', '/auth/me', {}]

/** Gate lets in customers who are signed in. Staff are led to the pages of staff. */
export function Gate() {
  const queries = useQueryClient()
  const t = useText(signInText)
  const words = useText(portalPagesText)
  const [ended, setEnded] = useState(false)
  const me = useQuery({
    queryKey: meKey,
    retry: false,
    refetchInterval: untilOpen,
    queryFn: async ({ signal }) => {
      const data = (await client.GET('/auth/me', { signal })).data!
      setServerTime(data.now)
      belongsTo(data.id)
      return data
    },
  })
  // Nothing of the person stays on the page when the session is over, here or in another tab.
  useEffect(() => whenSignedOut(() => {
    answered(false)
    belongsTo(null)
    setEnded(true)
    queries.clear()
  }), [queries])
  const problem = me.error && asProblem(me.error)
  const enter = () => {
    setEnded(false)
    void queries.resetQueries()
  }
  if (ended) return <SignIn hint={words.ended} onDone={enter} />
  if (isSuspended(me.error)) return <Alone title={t.suspended}><p>{t.suspendedHint}</p></Alone>
  if (me.data) return <Inside me={me.data} />
  if (problem?.status === 404) return <Alone title={t.unknownPlace}><p>{t.unknownPlaceHint}</p></Alone>
  if (problem?.status === 401) return <SignIn onDone={enter} />
  if (problem?.status === 0) {
    return <Alone title={words.offline}><p>{words.offlineHint}</p><Button look="main" busy={me.isFetching} onClick={() => void me.refetch()}>{words.retry}</Button></Alone>
  }
  if (problem) return <Alone title={words.offline}><Note of={problem} retry={() => void me.refetch()} /></Alone>
  return <main className="alone"><Waiting height={200} /></main>
}

const isSuspended = (error: object | null) => error !== null && asProblem(error).code === 'organization_suspended'

/** SignIn is the form of those who are not signed in. */
function SignIn(props: ComponentProps<typeof Form>) {
  return <Suspense fallback={<main className="alone"><Waiting height={300} /></main>}><Form {...props} /></Suspense>
}

/** untilOpen has the person read again while something that can pass keeps him out. */
const untilOpen = (read: { state: { error: object | null } }) => readUntilRead(read) || (isSuspended(read.state.error) && readAgain)

/** Alone is a page for somebody to whom no other one is shown. */
function Alone({ title, children }: { title: string; children: ReactNode }) {
  return <main className="alone"><div role="status"><NewVersion /></div><Page title={title}>{children}</Page></main>
}

/** Inside has the pages of a customer; anybody else is led to the own ones. */
function Inside({ me }: { me: Shape<'MeResponse'> }) {
  const elsewhere = me.role !== 'subscriber' || me.mustChangePassword
  useEffect(() => {
    if (elsewhere) location.replace(pagesOf('staff'))
  }, [elsewhere])
  return elsewhere ? <main className="alone"><Waiting height={200} /></main> : <Customer me={me} />
}

/** Customer reads the accounts that the person sees. */
function Customer({ me }: { me: Shape<'MeResponse'> }) {
  const t = useText(portalPagesText)
  const { query } = useAddress()
  const list = useRows('/me/subscribers', noFilters)
  const { rows, hasMore, more, isFetchingMore } = list
  useEffect(() => {
    if (hasMore && !isFetchingMore) more()
  }, [hasMore, more, isFetchingMore])
  const account = chosenOf(rows, query.get('account'))
  const own = useMemo(() => account && { me, accounts: rows, account }, [me, rows, account])
  const timezone = account?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  const currency = account?.currency ?? 'KES'
  const zone = useMemo(() => ({ timezone, currency }), [timezone, currency])
  const out = useSignOut(openPortal)
  if (own) return <ZoneContext value={zone}><OwnContext value={own}><Shell /></OwnContext></ZoneContext>
  if (list.error) return <Alone title={me.org?.name ?? ''}><Note of={list.error} retry={list.refetch} /></Alone>
  if (list.isPending) return <main className="alone"><Waiting height={200} /></main>
  return (
    <Alone title={t.noAccounts}>
      <p>{t.noAccountsHint}</p>
      <Note of={out.problem} />
      <Button busy={out.pending} onClick={out.gone ? out.leave : out.signOut}>{t.signOut}</Button>
    </Alone>
  )
}

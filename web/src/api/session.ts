// The session's cookies are out of the page's reach; this file knows how they are renewed, and who waits for a sign-in.

import { patience, Problem, problemOf } from './problem'

let renewal: Promise<Renewal> | null = null

/**
 * Renewal is what became of a session whose cookies were to be renewed. It has ended; or the browser has none of its
 * cookies any more, as after a sign-in at another organization, whose cookies take the place of these.
 */
type Renewal = 'renewed' | 'ended' | 'displaced'

/**
 * renewed asks for new cookies, once for all requests that wait; whoever has none then has to sign in. It throws a
 * Problem when the server cannot say so now: the session may be as good as before.
 */
export function renewed(): Promise<Renewal> {
  renewal ??= locked(renew).finally(() => {
    renewal = null
  })
  return renewal
}

// A super administrator has one session on all hosts. Its token is single use, and pages of different hosts see neither
// each other's locks nor what they keep: all of them would use the same one in the same moment, which ends the session.
let behind = false

/** renewsBehind says that this page gives pages of other hosts time to renew the session that is theirs, too. */
export function renewsBehind(others: boolean) {
  behind = others
}

/** elsewhere waits for some seconds, and reports whether the browser has new cookies by then. */
async function elsewhere(): Promise<boolean> {
  await new Promise((done) => setTimeout(done, 2000 + Math.random() * 6000))
  const answer = await fetch('/auth/me', { signal: AbortSignal.timeout(patience) }).catch(() => null)
  return answer?.ok ?? false
}

async function renew(): Promise<Renewal> {
  if (behind && await elsewhere()) return 'renewed'
  let answer: Response
  try {
    answer = await fetch('/auth/refresh', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
      signal: AbortSignal.timeout(patience),
    })
  } catch {
    throw new Problem(0, null, null, null)
  }
  if (answer.ok) return 'renewed'
  const problem = await problemOf(answer)
  // A token that was shown is refused by a code of its own; this one is the answer to none, or to another place's.
  if (problem.status === 401) return problem.code === 'unauthenticated' ? 'displaced' : 'ended'
  throw problem
}

/** locked keeps two tabs from using the same refresh token: it is single use, and its reuse ends the session. */
async function locked(renew: () => Promise<Renewal>): Promise<Renewal> {
  const asked = Date.now()
  const newer = () => Number(localStorage.getItem(renewedAt) ?? 0) > asked
  const once = async (): Promise<Renewal> => {
    // Another tab has renewed the cookies while this one waited for its turn.
    if (newer()) return 'renewed'
    const how = await renew()
    if (how === 'renewed') cookiesAreNew()
    // A sign-in, here or in another tab, was quicker than the refusal of the cookies before it.
    return newer() ? 'renewed' : how
  }
  return 'locks' in navigator ? navigator.locks.request('lastmile-refresh', once) : once()
}

const renewedAt = 'lastmile.renewedAt'

/** cookiesAreNew tells the other tabs that they need not ask for a password any more. */
export function cookiesAreNew() {
  localStorage.setItem(renewedAt, String(Date.now()))
}

/** whenCookiesAreNew calls back when another tab has new cookies; it returns the function that ends that. */
export function whenCookiesAreNew(heard: () => void): () => void {
  const stored = (e: StorageEvent) => {
    if (e.key === renewedAt && e.newValue !== null) heard()
  }
  window.addEventListener('storage', stored)
  return () => window.removeEventListener('storage', stored)
}

// The cookies are those of the whole browser: in another tab, of this or of another organization, somebody else may
// have signed in since the page was opened. Every request of a page says whose it is, and is refused if they are not.
let person: string | null = null

/** expectedHeader is how a request says whose it is. */
export const expectedHeader = 'X-Expected-User'

/** belongsTo says whose page this is, from when it is known. */
export function belongsTo(id: string | null) {
  person = id
}

/** expected is whose page this is; null = nobody's yet. */
export const expected = () => person

/** Lost is why a page must be signed in anew; another = somebody else has begun a session. */
export type Lost = Exclude<Renewal, 'renewed'> | 'another'

type Waiter = (signedIn: boolean) => void
let waiters: Waiter[] = []
let ask: ((why: Lost) => void) | null = null

/** whenSignedOut registers what asks for the password above the page; it returns the function that takes it back. */
export function whenSignedOut(show: (why: Lost) => void): () => void {
  ask = show
  return () => {
    ask = null
  }
}

/** signedOut waits until the person has signed in again; false = nobody asks, or the person gave up. */
export function signedOut(why: Lost): Promise<boolean> {
  if (!ask) return Promise.resolve(false)
  const wait = new Promise<boolean>((done) => waiters.push(done))
  ask(why)
  return wait
}

/** answered lets the requests that wait go on, or fail. */
export function answered(signedIn: boolean) {
  const waiting = waiters
  waiters = []
  for (const w of waiting) w(signedIn)
}

// The session's cookies are out of the page's reach; this file knows how they are renewed, and who waits for a sign-in.

let renewal: Promise<boolean> | null = null

/** renewed asks for new cookies, once for all requests that wait; false = the person has to sign in. */
export function renewed(): Promise<boolean> {
  renewal ??= locked(async () => {
    const answer = await fetch('/auth/refresh', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    })
    return answer.ok
  })
    .catch(() => false)
    .finally(() => {
      renewal = null
    })
  return renewal
}

/** locked keeps two tabs from using the same refresh token: it is single use, and its reuse ends the session. */
async function locked(renew: () => Promise<boolean>): Promise<boolean> {
  if (!('locks' in navigator)) return renew()
  const asked = Date.now()
  return navigator.locks.request('lastmile-refresh', async () => {
    // Another tab has renewed the cookies while this one waited for its turn.
    if (Number(localStorage.getItem(renewedAt) ?? 0) > asked) return true
    const ok = await renew()
    if (ok) localStorage.setItem(renewedAt, String(Date.now()))
    return ok
  })
}

const renewedAt = 'lastmile.renewedAt'

type Waiter = (signedIn: boolean) => void
let waiters: Waiter[] = []
let ask: (() => void) | null = null

/** whenSignedOut registers what asks for the password above the page; it returns the function that takes it back. */
export function whenSignedOut(show: () => void): () => void {
  ask = show
  return () => {
    ask = null
  }
}

/** signedOut waits until the person has signed in again; false = nobody asks, or the person gave up. */
export function signedOut(): Promise<boolean> {
  if (!ask) return Promise.resolve(false)
  const wait = new Promise<boolean>((done) => waiters.push(done))
  ask()
  return wait
}

/** answered lets the requests that wait go on, or fail. */
export function answered(signedIn: boolean) {
  const waiting = waiters
  waiters = []
  for (const w of waiting) w(signedIn)
}

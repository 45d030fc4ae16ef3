import createClient from 'openapi-fetch'
import createHooks from 'openapi-react-query'
import { began } from './calls'
import { patience, Problem, problemOf } from './problem'
import type { paths } from './schema.gen'
import { expected, expectedHeader, renewed, signedOut } from './session'

// A key that the caller does not give is made for each write: a request that the browser repeats acts once.
const keyHeader = 'Idempotency-Key'

// A file of the largest size takes minutes on a slow line.
const filePatience = 900_000

/**
 * send is fetch with the conventions of the API: a key on every write, whose page it is on every request, and a session
 * that has expired is renewed.
 */
async function send(request: Request): Promise<Response> {
  const url = new URL(request.url)
  const writes = request.method !== 'GET'
  if (writes && !url.pathname.startsWith('/auth/') && !request.headers.has(keyHeader)) {
    request.headers.set(keyHeader, crypto.randomUUID())
  }
  const person = expected()
  if (person && !beginsSession(url)) request.headers.set(expectedHeader, person)
  // A file may be large, is no command for a shell, and has passwords.
  const file = writes && request.headers.get('Content-Type') === 'text/csv'
  const body = writes && !file ? await request.clone().text() : ''
  for (let tries = 0; ; tries++) {
    const ended = began(request.method, url.pathname + url.search, body || null, request.headers.get(keyHeader))
    let answer: Response
    try {
      answer = await fetch(request.clone(), { signal: AbortSignal.any([request.signal, AbortSignal.timeout(file ? filePatience : patience)]) })
    } catch (cause) {
      ended(0, null)
      if (request.signal.aborted) throw cause
      const p = new Problem(0, null, null, null)
      p.cause = cause
      throw p
    }
    ended(answer.status, answer.headers.get('X-Request-Id'))
    if (answer.ok) return answer
    const problem = await problemOf(answer)
    // A page whose session has expired renews it, or asks for the password, and then goes on where it was.
    if (tries < 2 && !beginsSession(url)) {
      if (problem.code === 'unauthenticated' && url.pathname !== '/auth/logout') {
        const how = tries === 0 ? await renewed() : 'ended'
        if (how === 'renewed' || (await signedOut(how))) continue
      }
      if (problem.code === 'another_person' && (await signedOut('another'))) continue
    }
    throw problem
  }
}

// Of these, no page of another session may refuse or repeat one.
const sessionPaths = [
  '/auth/login', '/auth/refresh', '/auth/otp/send', '/auth/otp/verify', '/auth/otp/complete', '/auth/password/reset', '/auth/second-factor',
]

const beginsSession = (url: URL) => sessionPaths.includes(url.pathname)

/** client calls the API; it throws a Problem when the answer is not a success. */
export const client = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin', fetch: send })

/** api has the query hooks: api.useQuery('get', '/subscribers', …). Their keys begin with the method and the path. */
export const api = createHooks(client)

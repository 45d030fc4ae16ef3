import { useSyncExternalStore } from 'react'

/** CallMade is one request of this page, for the drawer that shows them. */
interface CallMade {
  n: number
  at: Date
  method: string
  /** path with its query, without the host; a code that buys something is hidden in it. */
  path: string
  body: string | null
  key: string | null
  /** status is 0 while the call runs, and when no answer came. */
  status: number
  running: boolean
  ms: number
  requestId: string | null
}

const kept = 50
let calls: readonly CallMade[] = []
let count = 0
const listeners = new Set<() => void>()

function publish(next: readonly CallMade[]) {
  calls = next
  for (const l of listeners) l()
}

/** began notes a request and gives the function that notes its end. */
export function began(method: string, path: string, body: string | null, key: string | null) {
  const started = performance.now()
  const call: CallMade = {
    n: ++count,
    at: new Date(),
    method,
    path: maskedPath(path),
    body: body && masked(body),
    key,
    status: 0,
    running: true,
    ms: 0,
    requestId: null,
  }
  publish([call, ...calls].slice(0, kept))
  return (status: number, requestId: string | null) => {
    const done = { ...call, status, requestId, running: false, ms: Math.round(performance.now() - started) }
    publish(calls.map((c) => (c.n === call.n ? done : c)))
  }
}

const secret = /password|secret|passkey|consumerkey|token|code$/i

// A voucher is named by its code, or by the id of its row, which buys nothing.
const codeIn = /^(\/vouchers\/)(?![0-9a-f]{8}-[0-9a-f-]{27}(?:\/|$))([^/?]+)/i

// What a code becomes when it is read as the program reads it: a prefix, and signs that nobody takes for each other.
const codeTyped = /^[A-Z0-9]{0,10}[2-9AHKMRWXYZSGB]{8,12}$/

/** couldBeCode takes a text for a voucher's code from two thirds of it on: filters follow typing. */
function couldBeCode(text: string): boolean {
  return codeTyped.test(text.toUpperCase().replace(/[-_.\s\u2010-\u2014\u2212]/g, ''))
}

/** typedText is a text within a query, as it was typed. */
function typedText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/**
 * maskedPath hides a voucher's code but for its end, by which the one with the slip knows it. What is typed into the
 * search is hidden whole: every letter of a code is a search. So is a filter that could be a code.
 */
export function maskedPath(path: string): string {
  const searches = path.startsWith('/search?')
  return path
    .replace(codeIn, (_, before: string, code: string) => `${before}********${code.length > 4 ? code.slice(-2) : ''}`)
    .replace(/([?&](\w+)=)([^&]+)/g, (all, before: string, name: string, text: string) => {
      return (searches && name === 'q') || couldBeCode(typedText(text)) ? `${before}********` : all
    })
}

/** masked hides what must not be read over a shoulder, or pasted to a colleague. */
function masked(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), (name, value) => (value && secret.test(name) ? '********' : value))
  } catch {
    return body
  }
}

/** curl writes a call as a command for a shell in which TOKEN is a sign-in. */
export function curl(call: CallMade): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const parts = ['curl -s']
  if (call.method !== 'GET') parts.push(`-X ${call.method}`)
  parts.push(quoted(location.origin + call.path), '-H "Authorization: Bearer $TOKEN"')
  if (call.body !== null) parts.push(`-H 'Content-Type: application/json' -d ${quoted(call.body)}`)
  if (call.key !== null) parts.push(`-H 'Idempotency-Key: ${call.key}'`)
  return parts.join(' \\\n  ')
}

/** useCalls gives the last calls, newest first. */
export function useCalls(): readonly CallMade[] {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    () => calls,
  )
}

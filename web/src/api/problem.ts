import { sayFault } from '../text/problems'

/** patience bounds a request, in milliseconds. The server's own limit is shorter, so its answer usually says more. */
export const patience = 40_000

/** Fault is what is wrong with one field of a form. */
export interface Fault {
  field: string
  /** code is null where only the text says it. */
  code: string | null
  /** values are the facts in the text, in its order. */
  values: string[]
  /** text is the API's own sentence; it begins with the field's name. */
  text: string
}

/** Problem is a request that did not succeed, as pages show it. */
export class Problem extends Error {
  /** status is the HTTP status; 0 = the server was not reached, or its answer was lost. */
  readonly status: number
  /** code is stable and machine-readable: docs/errors.md lists all of them. */
  readonly code: string
  /** faults has one entry for each wrong field of a 422. */
  readonly faults: Fault[]
  /** values are the facts in the message, in its order. */
  readonly values: string[]
  readonly requestId: string | null
  /** retryAfter in seconds, when the server names it. */
  readonly retryAfter: number | null
  /** details are further fields of the answer, such as affectedSessions of confirmation_required. */
  readonly details: Record<string, unknown>

  constructor(status: number, body: unknown, requestId: string | null, retryAfter: string | null) {
    const b = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
    const texts = Array.isArray(b.message) ? b.message.map(String) : []
    super(texts.length > 0 ? texts.join(' ') : typeof b.message === 'string' ? b.message : '')
    this.name = 'Problem'
    this.status = status
    this.code = typeof b.code === 'string' ? b.code : status === 0 ? 'unreachable' : 'unknown'
    this.faults = texts.map((text, i) => faultOf(text, Array.isArray(b.faults) ? b.faults[i] : undefined))
    this.values = listOf(b.values)
    this.requestId = requestId
    this.retryAfter = retryAfter === null || Number.isNaN(Number(retryAfter)) ? null : Number(retryAfter)
    this.details = b
  }

  /** of gives the fault of one field of a form, without the field's name; undefined = none. */
  of(field: string): string | undefined {
    const own = this.faults.find(({ text }) => text === field || text.startsWith(`${field} `) || text.startsWith(`${field}:`))
    return own && sayFault({ ...own, field })
  }
}

const listOf = (values: unknown): string[] => (Array.isArray(values) ? values.map(String) : [])

// What the API says of a fault beside its text is absent in the answers of older versions.
function faultOf(text: string, more: unknown): Fault {
  const m = (typeof more === 'object' && more !== null ? more : {}) as Record<string, unknown>
  return {
    text, values: listOf(m.values),
    field: typeof m.field === 'string' ? m.field : (text.split(' ')[0] ?? ''),
    code: typeof m.code === 'string' ? m.code : null,
  }
}

/** problemOf reads an answer that is no success, also of something between the browser and the program, as a proxy. */
export async function problemOf(answer: Response): Promise<Problem> {
  const body: unknown = await answer.json().catch(() => null)
  return new Problem(answer.status, body, answer.headers.get('X-Request-Id'), answer.headers.get('Retry-After'))
}

/** asProblem makes one of whatever was thrown. */
export function asProblem(cause: unknown): Problem {
  if (cause instanceof Problem) return cause
  const p = new Problem(0, null, null, null)
  p.cause = cause
  return p
}

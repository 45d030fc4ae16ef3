/** patience bounds a request, in milliseconds. The server's own limit is shorter, so its answer usually says more. */
export const patience = 40_000

/** Problem is a request that did not succeed, as pages show it. */
export class Problem extends Error {
  /** status is the HTTP status; 0 = the server was not reached, or its answer was lost. */
  readonly status: number
  /** code is stable and machine-readable: docs/errors.md lists all of them. */
  readonly code: string
  /** faults has one sentence for each wrong field of a 422, each beginning with the field's name. */
  readonly faults: string[]
  readonly requestId: string | null
  /** retryAfter in seconds, when the server names it. */
  readonly retryAfter: number | null
  /** details are further fields of the answer, such as affectedSessions of confirmation_required. */
  readonly details: Record<string, unknown>

  constructor(status: number, body: unknown, requestId: string | null, retryAfter: string | null) {
    const b = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
    const faults = Array.isArray(b.message) ? b.message.map(String) : []
    super(faults.length > 0 ? faults.join(' ') : typeof b.message === 'string' ? b.message : '')
    this.name = 'Problem'
    this.status = status
    this.code = typeof b.code === 'string' ? b.code : status === 0 ? 'unreachable' : 'unknown'
    this.faults = faults
    this.requestId = requestId
    this.retryAfter = retryAfter === null || Number.isNaN(Number(retryAfter)) ? null : Number(retryAfter)
    this.details = b
  }

  /** of gives the fault of one field of a form, without the field's name; undefined = none. */
  of(field: string): string | undefined {
    const own = this.faults.find((f) => f === field || f.startsWith(`${field} `) || f.startsWith(`${field}:`))
    return own?.slice(field.length).replace(/^:?\s*/, '')
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

import type { Problem } from './problem'

// So long somebody who presses again means the same write; later it is meant to be another one of the same content.
const remembered = 15 * 60_000

/** mayBeDone reports whether a write that failed may have been done all the same, or be at work still. */
const mayBeDone = (p: Problem) => p.status === 0 || p.status >= 500 || p.code === 'idempotency_key_running'

/** keys has the idempotency keys of writes that may be done, by what was sent. */
export class Keys {
  private readonly unsure = new Map<string, { key: string; since: number }>()

  /** of gives the key under which to send: that of the same write, if nobody knows yet whether it was done. */
  of(what: string, now = Date.now()): string {
    const kept = this.unsure.get(what)
    return kept && now - kept.since < remembered ? kept.key : crypto.randomUUID()
  }

  /**
   * ended keeps or forgets a key (docs/rules/http.md#idempotency). Once a write may be done, a refusal of the next try
   * does not say that it was not: only a success ends the doubt. A refusal without doubt has done nothing, and the next
   * try is a new one.
   */
  ended(what: string, key: string, problem: Problem | null, now = Date.now()) {
    if (problem === null) this.unsure.delete(what)
    else if (mayBeDone(problem)) {
      const kept = { key, since: now }
      this.unsure.set(what, kept)
      // What was sent may hold secrets: it is kept no longer than it is of use.
      setTimeout(() => {
        if (this.unsure.get(what) === kept) this.unsure.delete(what)
      }, remembered)
    }
  }
}

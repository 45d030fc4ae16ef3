import type { Versioned } from '../api/versioned'

/** Edits are what a person has typed, and the thing as it was when the typing began. */
export interface Edits<V, F> {
  base: Versioned<V>
  values: F
}

/** Merged is what a form shows. */
export interface Merged<F> {
  values: F
  /** dirty = something typed differs from what was read. */
  dirty: boolean
  /** meanwhile = somebody else has changed what the form shows, since the typing began. */
  meanwhile: boolean
  /** etag is the revision that the person has seen, for If-Match. */
  etag: string | null
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * merged brings together what was read last and what was typed. A new revision in which nothing differs that the form
 * shows, or in which stands what was typed, is nobody's conflict.
 */
export function merged<V, F>(read: Versioned<V>, edits: Edits<V, F> | null, form: (value: V) => F): Merged<F> {
  const now = form(read.value)
  if (!edits) return { values: now, dirty: false, meanwhile: false, etag: read.etag }
  const before = form(edits.base.value)
  const meanwhile = !same(now, before) && !same(now, edits.values)
  return {
    values: edits.values,
    dirty: !same(edits.values, now),
    meanwhile,
    etag: meanwhile ? edits.base.etag : read.etag,
  }
}

import type { Versioned } from '../api/versioned'

/** Edits are what a person has typed, and the thing as it was when the typing began. */
export interface Edits<V, F> {
  base: Versioned<V>
  values: F
  /** lost is what was typed into fields that have the values of somebody else now. */
  lost?: Partial<F>
  /** waits is set while new values were asked for that have not been read yet: the revision that is no longer wanted. */
  waits?: { not: string | null }
}

/** Merged is what a form shows. */
interface Merged<F> {
  values: F
  /** dirty = something typed differs from what was read. */
  dirty: boolean
  /** meanwhile = somebody else has changed what the form shows, since the typing began. */
  meanwhile: boolean
  /** etag is the revision that the person has seen, for If-Match. */
  etag: string | null
}

/**
 * Secrets are the fields of a form that are written and never read. `version` is the field that changes when somebody
 * replaces one of them: it is read, and is no field on the page.
 */
export interface Secrets<F> {
  version: keyof F
  fields: readonly (keyof F)[]
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
  // What was typed and put back is not typed.
  if (same(edits.values, before)) return { values: now, dirty: false, meanwhile: false, etag: read.etag }
  const meanwhile = !same(now, before) && !same(now, edits.values)
  return {
    values: edits.values,
    dirty: !same(edits.values, now),
    meanwhile,
    etag: meanwhile ? edits.base.etag : read.etag,
  }
}

/** withPart is what a person has typed, with some more. */
export function withPart<V, F>(read: Versioned<V>, edits: Edits<V, F> | null, form: (value: V) => F, part: Partial<F>): Edits<V, F> {
  const began = edits !== null && !same(edits.values, form(edits.base.value))
  const { base, values } = began ? edits : { base: read, values: form(read.value) }
  return { ...edits, base, values: { ...values, ...part } }
}

/**
 * brought takes what somebody else has saved into a form that is being filled in. What was typed stays in fields that
 * the other one left alone. A field that both have changed gets the other's value, so that nothing of his is overwritten
 * by chance; what was typed there is in `lost`, for the page to tell. Of secrets nobody sees which of them another one
 * has replaced: all that were typed are lost then.
 */
export function brought<F extends object>(before: F, typed: F, theirs: F, secrets?: Secrets<F>): { values: F; lost: Partial<F> } {
  const values = { ...theirs }
  const lost: Partial<F> = {}
  const replaced = secrets !== undefined && !same(theirs[secrets.version], before[secrets.version])
  for (const field of Object.keys(typed) as (keyof F)[]) {
    if (same(typed[field], before[field]) || same(typed[field], theirs[field])) continue
    if (same(theirs[field], before[field]) && !(replaced && secrets.fields.includes(field))) values[field] = typed[field]
    else lost[field] = typed[field]
  }
  return { values, lost }
}

/** taken goes on with the new values. What was lost when they were taken before is still told. */
export function taken<V, F extends object>(
  read: Versioned<V>, edits: Edits<V, F>, form: (value: V) => F, secrets?: Secrets<F>,
): Edits<V, F> {
  const { values, lost } = brought(form(edits.base.value), edits.values, form(read.value), secrets)
  return { base: read, values, lost: { ...edits.lost, ...lost } }
}

/** inWords writes what was typed into a field as a text. */
export function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ')
  if (typeof value === 'object' && value !== null) return Object.values(value).map(inWords).filter(Boolean).join(' ')
  return value === null || value === undefined || typeof value === 'boolean' ? '' : String(value)
}

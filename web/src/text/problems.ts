import type { Fault, Problem } from '../api/problem'
import { catalogue, readWith, spokenNow, wait } from './catalogue'
import { amountsIn } from './format'

/** By code: what the facts of a message, in the order of the English one, say. */
type Sayings = Partial<Record<string, (values: string[]) => string>>

/** problemText has plain words for failures that are of the way to the server, or that have no sentence of their own. */
export const problemText = catalogue(
  {
    unreachable: 'The server cannot be reached. Check the connection; what you typed is still here.',
    internal: 'Something failed on the server. It is in the log under the request id.',
    unauthenticated: 'Your session has ended. Please sign in again.',
    organization_suspended: 'This organization is suspended by the operator of the platform.',
    forbidden: 'Your role does not allow this. An administrator can do it.',
    not_found: 'This does not exist, or it belongs to another organization.',
    rate_limited: 'Too many requests.',
    tryAgain: (seconds: number | null) => (seconds ? `Try again in ${wait('en', seconds)}.` : 'Wait a moment, then try again.'),
    edit_conflict: 'Somebody else changed this meanwhile. Load it again, then make your change.',
    unknown: 'The answer could not be understood. Please try again.',
    // The API's own sentences are English.
    codes: {} as Sayings,
    faults: {} as Sayings,
    /** field names a field as its form does. */
    field: (path: string) => path,
  },
  {
    unreachable: 'Seva haipatikani. Angalia mtandao; ulichoandika bado kipo hapa.',
    internal: 'Kuna hitilafu kwenye seva. Imeandikwa kwenye kumbukumbu chini ya namba ya ombi.',
    unauthenticated: 'Muda wako umeisha. Tafadhali ingia tena.',
    organization_suspended: 'Shirika hili limesimamishwa na mwendeshaji wa jukwaa.',
    forbidden: 'Wadhifa wako hauruhusu jambo hili. Msimamizi anaweza kulifanya.',
    not_found: 'Haipo, au ni ya shirika lingine.',
    rate_limited: 'Maombi mengi mno.',
    tryAgain: (seconds) => (seconds ? `Jaribu tena baada ya ${wait('sw', seconds)}.` : 'Subiri kidogo, kisha jaribu tena.'),
    edit_conflict: 'Mtu mwingine amebadilisha hii kwa sasa. Ipakie tena, kisha fanya badiliko lako.',
    unknown: 'Jibu halikueleweka. Tafadhali jaribu tena.',
    codes: {},
    faults: {},
    field: (path) => path,
  },
)

void readWith('en', async () => {
  const { englishFaults, fieldsText, nameOfField } = await import('./fields')
  problemText.en.faults = englishFaults
  problemText.en.field = (path) => nameOfField(path, fieldsText.en)
})

void readWith('sw', async () => {
  const [{ swahiliFailures, swahiliFaults }, { fieldsText, nameOfField }] = await Promise.all([import('./failures'), import('./fields')])
  problemText.sw.field = (path) => nameOfField(path, fieldsText.sw)
  problemText.sw.codes = swahiliFailures
  problemText.sw.faults = swahiliFaults
})

/**
 * sentences gives what a problem says, one sentence for each fault: in English the API's own, in another language by its
 * code, and the API's for a code without words. `left` is how many seconds the server still wants to be left alone.
 */
export function sentences(p: Problem, t: (typeof problemText)['en'], left: number | null = p.retryAfter): string[] {
  return said(p, t, left).map((s) => amountsIn(s, t === problemText.sw ? 'sw' : 'en'))
}

/** said gives the sentences with amounts as the API writes them. */
function said(p: Problem, t: (typeof problemText)['en'], left: number | null): string[] {
  if (p.code === 'unreachable') return [t.unreachable]
  if (p.status === 429) return [`${tooOften(p, t)} ${t.tryAgain(left)}`]
  if (p.status === 412) return [t.edit_conflict]
  if (p.code === 'organization_suspended') return [t.organization_suspended]
  const known = t.codes[p.code]
  if (known) return [known(p.values)]
  if (p.faults.length > 0) {
    return p.faults.map((f) => toldOf(f, t))
  }
  if (p.message) return [p.message]
  if (p.status === 401) return [t.unauthenticated]
  if (p.status === 403) return [t.forbidden]
  if (p.status === 404) return [t.not_found]
  if (p.status >= 500) return [t.internal]
  return [t.unknown]
}

/** toldOf is a sentence about one field. A fault without its field's name in front is a sentence by itself. */
function toldOf(f: Fault, t: (typeof problemText)['en']): string {
  const says = f.code && t.faults[f.code]?.(f.values)
  if (says) return t === problemText.sw ? `${t.field(f.field)}: ${says}.` : `${t.field(f.field)} ${says}.`
  const rest = f.text.slice(f.field.length).replace(/^:?\s+/, '')
  return f.text.startsWith(f.field) && rest !== '' && rest !== f.text ? `${t.field(f.field)} ${rest}${/[.?!]$/.test(rest) ? '' : '.'}` : f.text
}

/** tooOften says what was asked for too often. What no code says is that of all requests together. */
function tooOften(p: Problem, t: (typeof problemText)['en']): string {
  return (p.code !== 'rate_limited' && (t.codes[p.code]?.(p.values) || p.message)) || t.rate_limited
}

/** sayFault says what is wrong with a field in the language of the pages, without the field's name. */
export function sayFault(f: Fault): string {
  return (f.code && problemText[spokenNow()].faults[f.code]?.(f.values)) || f.text.slice(f.field.length).replace(/^:?\s*/, '')
}

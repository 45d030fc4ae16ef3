import type { Shape } from '../../api/types'
import type { Language } from '../../text/catalogue'

/** Settings are the texts of all messages, and when they go. */
export type Settings = Shape<'MessageSettingsResponse'>

/** Texts are those of one message in one language; one that is empty is not sent. */
export interface Texts {
  sms: string
  subject: string
  text: string
  /** whatsApp is the name of an approved text, and its words. */
  whatsApp: string
}

/** Both are the texts of one message in all languages. */
export type Both = Record<Language, Texts>

type ByMessage = Settings['templates']

const byLanguage = (s: Settings, language: Language): ByMessage => (s.language === language ? s.templates : (s.translations[language] ?? {}))

const flat = (t: ByMessage[string] | undefined): Texts => ({ sms: t?.sms ?? '', subject: t?.email.subject ?? '', text: t?.email.text ?? '', whatsApp: t?.whatsApp ?? '' })

/** textsOf are the texts of a message as they hold. */
export const textsOf = (s: Settings, message: string): Both => ({ en: flat(byLanguage(s, 'en')[message]), sw: flat(byLanguage(s, 'sw')[message]) })

/** usualOf are those that hold until the organization writes its own. */
export const usualOf = (s: Settings, message: string): Both => ({ en: flat(s.usual.en?.[message]), sw: flat(s.usual.sw?.[message]) })

/** same reports whether two texts say the same. */
export const same = (a: Texts, b: Texts) => a.sms === b.sms && a.subject === b.subject && a.text === b.text && a.whatsApp === b.whatsApp

/** writtenWith is the body of a write of one message. Texts replace all of their language, so the others go with it. */
export function writtenWith(s: Settings, message: string, texts: Both): Shape<'MessageSettingsRequest'> {
  const all = (language: Language): ByMessage => {
    const { sms, subject, text, whatsApp } = texts[language]
    return { ...byLanguage(s, language), [message]: { sms, email: { subject, text }, whatsApp } }
  }
  const other: Language = s.language === 'en' ? 'sw' : 'en'
  return { templates: all(s.language), translations: { [other]: all(other) } }
}

const word = /\{([^{}]*)\}/g

/** faultIn finds what the API would refuse in a text: a word that the message has not, or a brace that stands alone. */
export function faultIn(text: string, words: string[]): { unknown: string } | 'brace' | null {
  const unknown = [...text.matchAll(word)].map((m) => m[1] ?? '').find((w) => !words.includes(w))
  if (unknown !== undefined) return { unknown }
  return /[{}]/.test(text.replace(word, '')) ? 'brace' : null
}

/** filled replaces the words in braces as the program does: where a value is empty, no spaces are left around it. */
export function filled(text: string, values: Record<string, string>): string {
  const out = text.replace(word, (all, name: string) => values[name] ?? all)
  return out.split('\n').map((line) => line.split(/\s+/).filter(Boolean).join(' ')).join('\n').trim()
}

/** exampleOf has a value for each word, as one customer could get it. */
export function exampleOf(language: Language, org: string, currency: string, link: string): Record<string, string> {
  const en = language === 'en'
  const day = (d: number, month: string) => (en ? `${d} ${month} 2026` : `${String(d).padStart(2, '0')}/${month === 'Nov' ? '11' : '12'}/2026`)
  return {
    org, link, account: '10000042', amount: `${currency} 1500.00`, number: 'INV-0123', control: 'KRA100000123', verification: 'https://itax.example/KRA100000123',
    due: day(30, 'Nov'), shortcode: '600100', pay: en ? `Paybill 600100 or ${link}` : `Paybill 600100 au ${link}`, code: 'SK12ABC345', otp: '482916', host: new URL(link).host,
    until: en ? `Paid until ${day(30, 'Dec')}.` : `Imelipiwa hadi ${day(30, 'Dec')}.`, rest: '', plan: 'Home 10', used: '40 GB', allowed: '50 GB',
    resets: `${day(1, 'Dec')} 00:00`, then: en ? 'is slower' : 'itakuwa ya polepole', since: '27/11 08:15', portal: new URL('/portal/', link).href, what: en ? 'Cut fibre on Market Road' : 'Nyaya zimekatika Market Road',
  }
}

// The alphabet of SMS (GSM 03.38), and the signs that count as two in it.
const basic = '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const double = '^{}\\[~]|€'

/** Parts is how many SMS a text takes, of how many signs, and the signs for which it takes more. */
export interface Parts {
  parts: number
  signs: number
  outside: string[]
}

/** partsOf counts as phone networks do: 160 signs in one SMS and 153 in each of several, or 70 and 67 in Unicode. */
export function partsOf(text: string): Parts {
  const outside = [...new Set([...text].filter((c) => !basic.includes(c) && !double.includes(c)))]
  const signs = outside.length > 0 ? text.length : [...text].reduce((sum, c) => sum + (double.includes(c) ? 2 : 1), 0)
  const [one, each] = outside.length > 0 ? [70, 67] : [160, 153]
  return { parts: signs === 0 ? 0 : signs <= one ? 1 : Math.ceil(signs / each), signs, outside }
}

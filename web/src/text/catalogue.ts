import { createContext, use, useSyncExternalStore } from 'react'
import { filling } from './isolated'

/** Language is one that every text exists in. */
export type Language = 'en' | 'sw'

/** languages names each language in itself, for the choice. */
export const languages: Record<Language, string> = { en: 'English', sw: 'Kiswahili' }

/** locales are what Intl gets. Kenya's: the day before the month, and shillings as people there write them. */
export const locales: Record<Language, string> = { en: 'en-KE', sw: 'sw-KE' }

/** Catalogue has the texts of an area in every language. */
type Catalogue<Texts> = Record<Language, Texts>

/**
 * catalogue makes one; a text that one of the languages lacks stops the build. What its sentences are filled with turns
 * nothing round.
 */
export function catalogue<Texts>(en: Texts, sw: NoInfer<Texts>): Catalogue<Texts> {
  return { en: filling(en), sw: filling<Texts>(sw) }
}

const stored = 'lastmile.language'

function first(): Language {
  const wanted = localStorage.getItem(stored) ?? navigator.language.slice(0, 2)
  return wanted === 'sw' ? 'sw' : 'en'
}

let language: Language = first()
document.documentElement.lang = language
const listeners = new Set<() => void>()

/** spokenNow is the language of the pages, for what is no component. */
export const spokenNow = (): Language => language

// What is read of a language before it is spoken.
const readers: Record<Language, Set<() => Promise<void>>> = { en: new Set(), sw: new Set() }

/** speak changes the language of all pages, once the texts are read that only this one has. */
export async function speak(next: Language) {
  await Promise.all([...readers[next]].map((read) => read()))
  language = next
  localStorage.setItem(stored, next)
  document.documentElement.lang = next
  for (const l of listeners) l()
}

/**
 * readWith has texts read that one language alone has, where it is spoken, and waits for them. Without them the API's
 * own sentences stand there.
 */
export async function readWith(spoken: Language, read: () => Promise<void>) {
  const wanted = () => read().catch(() => undefined)
  readers[spoken].add(wanted)
  if (language === spoken) await wanted()
}

/**
 * inParts makes a large catalogue of which nobody who speaks English has to fetch the Swahili. Where it cannot be read,
 * English stands there. The module of the Swahili imports nothing but types: what it imports could wait for it.
 */
export async function inParts<Texts>(en: Texts, sw: () => Promise<NoInfer<Texts>>): Promise<Catalogue<Texts>> {
  const all = catalogue(en, en)
  await readWith('sw', async () => void (all.sw = filling<Texts>(await sw())))
  return all
}

/** LanguageContext brings the language to all pages. Lists have hundreds of texts: none of them listens by itself. */
export const LanguageContext = createContext(language)

/** useSpoken follows the language, for what gives it to all pages. */
export function useSpoken(): Language {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    () => language,
  )
}

/** useLanguage gives the language of the pages. */
export function useLanguage(): Language {
  return use(LanguageContext)
}

/** useText gives the texts of a catalogue in the language of the pages. */
export function useText<Texts>(of: Catalogue<Texts>): Texts {
  return of[useLanguage()]
}

const numbers: Record<Language, Intl.NumberFormat> = {
  en: new Intl.NumberFormat(locales.en),
  sw: new Intl.NumberFormat(locales.sw),
}
const plurals: Record<Language, Intl.PluralRules> = {
  en: new Intl.PluralRules(locales.en),
  sw: new Intl.PluralRules(locales.sw),
}

// A wait is written in the largest unit of which it has two or more; the last entry takes the rest.
const units = [['second', 1, 120], ['minute', 60, 7200], ['hour', 3600, Infinity]] as const

/** wait writes how long somebody has to wait, never too short: 45 seconds, 8 minutes. */
export function wait(lang: Language, seconds: number): string {
  const [unit, size] = units.find(([, , below]) => seconds < below) ?? units[2]
  return new Intl.NumberFormat(locales[lang], { style: 'unit', unit, unitDisplay: 'long' }).format(Math.ceil(seconds / size))
}

/** plural writes a number with its word. "#" stands for the number. */
export function plural(lang: Language, n: number, one: string, other: string): string {
  return (plurals[lang].select(n) === 'one' ? one : other).replace('#', numbers[lang].format(n))
}

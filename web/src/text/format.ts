import { createContext, use } from 'react'
import { type Language, locales, useLanguage } from './catalogue'

/** Zone says how an organization writes times and money. */
export interface Zone {
  timezone: string
  currency: string
}

export const ZoneContext = createContext<Zone>({ timezone: 'UTC', currency: 'KES' })

type Instant = string | number | Date

/** Format writes numbers, money and times in the person's language and the organization's zone. */
export class Format {
  private readonly locale: string

  constructor(
    readonly language: Language,
    readonly zone: Zone,
  ) {
    this.locale = locales[language]
  }

  /** money writes an amount in major units with its currency; whole amounts have no decimals. */
  money(amount: number, currency = this.zone.currency): string {
    return cached(`m${this.locale}${currency}${Number.isInteger(amount)}`, () => {
      return new Intl.NumberFormat(this.locale, {
        style: 'currency',
        currency,
        currencyDisplay: 'code',
        ...(Number.isInteger(amount) ? { maximumFractionDigits: 0 } : {}),
      })
    }).format(amount)
  }

  number(n: number): string {
    return cached(`n${this.locale}`, () => new Intl.NumberFormat(this.locale)).format(n)
  }

  percent(part: number): string {
    return cached(`p${this.locale}`, () => {
      return new Intl.NumberFormat(this.locale, { style: 'percent', maximumFractionDigits: 0 })
    }).format(part)
  }

  /** bytes writes an amount of data in decimal units, as plans and providers count. */
  bytes(n: number): string {
    const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
    let i = 0
    while (n >= 1000 && i < units.length - 1) {
      n /= 1000
      i++
    }
    return `${this.number(n >= 100 || i === 0 ? Math.round(n) : Math.round(n * 10) / 10)} ${units[i]}`
  }

  /** rate writes kbit/s as people say it: "10 Mbps". */
  rate(kbits: number): string {
    return kbits >= 1000 ? `${this.number(Math.round(kbits / 100) / 10)} Mbps` : `${this.number(kbits)} kbps`
  }

  /** day writes a date: 22 Nov 2026. A date without a time is already the organization's. */
  day(at: Instant): string {
    const plain = typeof at === 'string' && /^\d{4}-\d\d-\d\d$/.test(at)
    return this.times('day', plain ? 'UTC' : this.zone.timezone, { day: 'numeric', month: 'short', year: 'numeric' })(at)
  }

  /** month writes a month: Nov 2026. */
  month(at: Instant): string {
    return this.times('month', this.zone.timezone, { month: 'short', year: 'numeric' })(at)
  }

  /** dayOfYear writes a date without its year, for the axes of charts: 22 Nov. */
  dayOfYear(at: Instant): string {
    return this.times('dayOfYear', this.zone.timezone, { day: 'numeric', month: 'short' })(at)
  }

  /** weekday writes the day of the week of a date or an instant: Tue. */
  weekday(at: Instant): string {
    const plain = typeof at === 'string' && /^\d{4}-\d\d-\d\d$/.test(at)
    const day = this.times('weekday', plain ? 'UTC' : this.zone.timezone, { weekday: 'short' })(at)
    return (this.language === 'sw' && shortDays[day]) || day
  }

  /** time writes the time of a day: 14:05. */
  time(at: Instant): string {
    return this.times('time', this.zone.timezone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })(at)
  }

  /** exact writes an instant to the second, with the zone. */
  exact(at: Instant): string {
    return this.times('exact', this.zone.timezone, {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'short',
    })(at)
  }

  /** short writes an instant to the minute, with the day of the week: Tue, 17 Nov, 06:00. */
  short(at: Instant, now = Date.now()): string {
    return `${this.weekday(at)}, ${this.minute(at, now)}`
  }

  /** minute writes an instant to the minute: 17 Nov, 06:00; one that is long ago or far ahead has its year, too. */
  minute(at: Instant, now = Date.now()): string {
    const far = Math.abs(new Date(at).getTime() - now) > halfYear
    return `${far ? this.day(at) : this.dayOfYear(at)}, ${this.time(at)}`
  }

  /** relative writes the distance from now: 4 days ago. */
  relative(at: Instant, now: number): string {
    const seconds = (new Date(at).getTime() - now) / 1000
    const format = cached(`r${this.locale}`, () => new Intl.RelativeTimeFormat(this.locale, { numeric: 'auto' }))
    for (const [unit, size] of spans) {
      if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit)
    }
    return format.format(0, 'second')
  }

  /** duration writes a length of time in its two largest units: 3 d 4 h. */
  duration(seconds: number): string {
    const [day, hour, minute, second] = lengths[this.language]
    const parts: [number, string][] = [
      [Math.floor(seconds / 86_400), day],
      [Math.floor((seconds % 86_400) / 3600), hour],
      [Math.floor((seconds % 3600) / 60), minute],
      [Math.floor(seconds % 60), second],
    ]
    const write = (n: number, unit: string) => (this.language === 'sw' ? `${unit} ${n}` : `${n} ${unit}`)
    const from = parts.findIndex(([n]) => n > 0)
    if (from < 0) return write(0, second)
    return parts
      .slice(from, from + 2)
      .filter(([n]) => n > 0)
      .map(([n, unit]) => write(n, unit))
      .join(' ')
  }

  /** today is the organization's date of an instant, as the API writes it. */
  date(at: Instant): string {
    const parts = cached(`d${this.zone.timezone}`, () => {
      return new Intl.DateTimeFormat('en-CA', {
        timeZone: this.zone.timezone,
        year: 'numeric',
        month: '2-digit',
        day: '2-digit',
      })
    })
    return parts.format(new Date(at))
  }

  private times(kind: string, timeZone: string, options: Intl.DateTimeFormatOptions) {
    const format = cached(`t${kind}${this.locale}${timeZone}`, () => {
      return new Intl.DateTimeFormat(this.locale, { ...options, timeZone })
    })
    return (at: Instant) => format.format(new Date(at))
  }
}

const halfYear = 183 * 86_400_000

// The language has no short names of days in Intl; these are how people write them.
const shortDays: Record<string, string> = {
  Jumapili: 'Jpili', Jumatatu: 'Jtatu', Jumanne: 'Jnne', Jumatano: 'Jtano', Alhamisi: 'Alh', Ijumaa: 'Ijm', Jumamosi: 'Jmosi',
}

// Units of lengths of time, the largest first; in Swahili the unit stands before its number.
const lengths: Record<Language, [day: string, hour: string, minute: string, second: string]> = {
  en: ['d', 'h', 'min', 's'],
  sw: ['siku', 'saa', 'dak', 'sek'],
}

const spans: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

// Making an Intl format costs more than a thousand uses of it.
const formats = new Map<string, unknown>()

function cached<F>(key: string, make: () => F): F {
  let f = formats.get(key) as F | undefined
  if (!f) {
    f = make()
    formats.set(key, f)
  }
  return f
}

const made = new WeakMap<Zone, Partial<Record<Language, Format>>>()

/** useFormat gives the Format of the person and the organization: the same one to all who ask. */
export function useFormat(): Format {
  const language = useLanguage()
  const zone = use(ZoneContext)
  const of = made.get(zone) ?? {}
  made.set(zone, of)
  return (of[language] ??= new Format(language, zone))
}

// An amount in a sentence of the API: "KES 1500.00".
const amountOfAPI = /\b([A-Z]{3}) (\d+\.\d{2})(?!\d)/g

/** amountsIn writes the amounts of a sentence of the API as the pages write all others: "KES 1,500". */
export function amountsIn(sentence: string, language: Language): string {
  const f = new Format(language, { timezone: 'UTC', currency: 'KES' })
  return sentence.replace(amountOfAPI, (_, currency: string, amount: string) => f.money(Number(amount), currency))
}

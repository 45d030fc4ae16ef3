/** Params reads the filters of a list from the address; what is not one of them is left out. */
export class Params {
  constructor(private readonly raw: Record<string, unknown>) {}

  text(name: string): string | undefined {
    const v = this.raw[name]
    if (typeof v === 'number' || typeof v === 'boolean') return String(v)
    return typeof v === 'string' && v !== '' ? v : undefined
  }

  /** date reads a day, as the API writes it. */
  date(name: string): string | undefined {
    const v = this.text(name)
    return v && /^\d{4}-\d\d-\d\d$/.test(v) && !Number.isNaN(Date.parse(v)) ? v : undefined
  }

  flag(name: string): boolean | undefined {
    const v = this.raw[name]
    return v === true || v === 'true' ? true : v === false || v === 'false' ? false : undefined
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const v = this.raw[name]
    return values.find((each) => each === v)
  }
}

/** given leaves out what is undefined, so that the address has only the filters that are set. */
export function given<T extends object>(filters: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(filters).filter(([, v]) => v !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

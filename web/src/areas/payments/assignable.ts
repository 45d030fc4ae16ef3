/** Takes is an organization as far as it decides whether money can be given to it. */
interface Takes {
  currency: string
}

/** assignable divides organizations into those that money of a currency can be given to, and how many are left out. */
export function assignable<O extends Takes>(orgs: readonly O[], currency: string): { fitting: O[]; others: number } {
  const fitting = orgs.filter((o) => o.currency === currency)
  return { fitting, others: orgs.length - fitting.length }
}

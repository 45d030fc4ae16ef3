/** Component is one tax as a form has it; rate is typed text in percent. */
export interface Component {
  name: string
  rate: string
  compound: boolean
}

/** rateOf reads a typed rate; null = it is none. Tax rates are from 0 to 100 with at most two decimals. */
export function rateOf(text: string): number | null {
  if (!/^\d{1,3}([.,]\d{1,2})?$/.test(text.trim())) return null
  const rate = Number(text.trim().replace(',', '.'))
  return rate <= 100 ? rate : null
}

/** factorOf is by how much taxes raise a price without tax: 1.16 for 16 %. */
function factorOf(components: Component[]): number {
  let factor = 1
  for (const c of components) {
    const rate = (rateOf(c.rate) ?? 0) / 100
    factor += c.compound ? factor * rate : rate
  }
  return factor
}

/** exampleOf tells for a price what the customer pays, and what of it is tax. */
export function exampleOf(price: number, mode: 'inclusive' | 'exclusive', components: Component[]) {
  const factor = factorOf(components)
  const cents = (n: number) => Math.round(n * 100) / 100
  const pays = mode === 'inclusive' ? price : cents(price * factor)
  return { pays, tax: cents(mode === 'inclusive' ? price - price / factor : pays - price) }
}

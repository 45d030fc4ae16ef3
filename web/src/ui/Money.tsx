import { catalogue, useText } from '../text/catalogue'
import { useFormat } from '../text/format'

const texts = catalogue({ credit: (amount: string) => `credit ${amount}` }, { credit: (amount) => `akiba ${amount}` })

/** Money shows an amount in major units, with tabular digits. */
export function Money({ amount, currency, strong }: { amount: number; currency?: string; strong?: boolean }) {
  const f = useFormat()
  return (
    <span className="figure" style={{ fontWeight: strong ? 600 : undefined }}>
      {f.money(amount, currency)}
    </span>
  )
}

/** Balance shows what is owed; money on account is "credit 500" and not a negative debt. */
export function Balance({ amount, currency }: { amount: number; currency?: string }) {
  const f = useFormat()
  const t = useText(texts)
  return (
    <span className="figure" style={{ color: amount > 0 ? 'var(--tone-bad)' : undefined }}>
      {amount < 0 ? t.credit(f.money(-amount, currency)) : f.money(amount, currency)}
    </span>
  )
}

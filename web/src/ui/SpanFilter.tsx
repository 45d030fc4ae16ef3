import { TextInput } from '@mantine/core'
import { catalogue, useText } from '../text/catalogue'

const texts = catalogue({ from: 'From', to: 'To' }, { from: 'Kuanzia', to: 'Hadi' })

/** Between are the days of a list, both included; an instant in the address counts, and is shown as its day. */
export interface Between {
  from?: string
  to?: string
}

/** SpanFilter narrows a list to days. */
export function SpanFilter({ of, onChange }: { of: Between; onChange: (part: Between) => void }) {
  const t = useText(texts)
  return (
    <>
      <TextInput
        type="date"
        size="sm"
        aria-label={t.from}
        title={t.from}
        leftSection={<span aria-hidden className="inset">{t.from}</span>}
        leftSectionWidth={56}
        value={of.from?.slice(0, 10) ?? ''}
        max={of.to?.slice(0, 10)}
        onChange={(e) => onChange({ from: e.currentTarget.value || undefined })}
        w={190}
      />
      <TextInput
        type="date"
        size="sm"
        aria-label={t.to}
        title={t.to}
        leftSection={<span aria-hidden className="inset">{t.to}</span>}
        leftSectionWidth={56}
        value={of.to?.slice(0, 10) ?? ''}
        min={of.from?.slice(0, 10)}
        onChange={(e) => onChange({ to: e.currentTarget.value || undefined })}
        w={190}
      />
    </>
  )
}

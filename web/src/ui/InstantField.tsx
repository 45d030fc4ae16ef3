import { TextInput } from '@mantine/core'
import { useFormat } from '../text/format'

/** InstantField is a day and a time of the organization's zone, as forms have it; "" = none. */
export function InstantField({ label, description, value, error, required, onChange }: {
  label: string
  description?: string
  value: string
  error?: string
  required?: boolean
  onChange: (local: string) => void
}) {
  const { zone: { timezone } } = useFormat()
  return (
    <TextInput
      type="datetime-local"
      label={`${label} (${timezone})`}
      description={description}
      value={value}
      onChange={(e) => onChange(e.currentTarget.value)}
      error={error}
      required={required}
      withAsterisk={false}
    />
  )
}

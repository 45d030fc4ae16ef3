import { Select } from '@mantine/core'
import { useAll } from '../api/all'
import { PartNote } from './PartNote'

const noFilters = {}

/** RouterField chooses one of the routers. */
export function RouterField({ label, description, value, error, without, onChange }: {
  label: string
  description?: string
  value: string | null
  error?: string
  /** without is a router that cannot be chosen. */
  without?: string
  onChange: (id: string | null) => void
}) {
  const routers = useAll('/nas/devices', noFilters)
  const data = (routers.rows ?? []).filter((r) => r.id !== without).map((r) => ({ value: r.id, label: r.name }))
  return (
    <>
      <Select
        label={label}
        description={description}
        value={value}
        onChange={onChange}
        data={data.sort((a, b) => a.label.localeCompare(b.label))}
        error={error}
        searchable
        clearable
      />
      <PartNote of={routers} />
    </>
  )
}

import { Select } from '@mantine/core'
import { useAll } from '../api/all'
import { catalogue, useText } from '../text/catalogue'
import { PartNote } from './PartNote'

const texts = catalogue({ router: 'Router' }, { router: 'Ruta' })
const noFilters = {}

/** RouterFilter offers the organization's routers by name. The list of looks has them for everybody who reads. */
export function RouterFilter({ value, onChange }: { value: string | undefined; onChange: (id: string | undefined) => void }) {
  const t = useText(texts)
  const routers = useAll('/access-audits', noFilters)
  return (
    <>
      <Select
        value={value ?? null}
        onChange={(id) => onChange(id ?? undefined)}
        data={(routers.rows ?? []).map((r) => ({ value: r.deviceId, label: r.deviceName }))}
        placeholder={t.router}
        aria-label={t.router}
        searchable
        clearable
        w={180}
      />
      <PartNote of={routers} />
    </>
  )
}

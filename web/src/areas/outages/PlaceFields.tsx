import { NativeSelect, Select, Stack, TextInput } from '@mantine/core'
import { useAll } from '../../api/all'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { outagesText } from '../../text/outages'
import { PartNote } from '../../ui/PartNote'
import { RouterField } from '../../ui/RouterField'
import type { Kind, TypedPlace } from './place'

const noFilters = {}

/** PlaceFields chooses where in the network something happened: a router, a service or an area. */
export function PlaceFields({ value, onChange, problem }: {
  value: TypedPlace
  onChange: (value: TypedPlace) => void
  problem: Problem | null
}) {
  const t = useText(outagesText)
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t.place}
        value={value.kind}
        onChange={(e) => onChange({ ...value, kind: e.currentTarget.value as Kind })}
        data={Object.entries(t.kinds).map(([kind, label]) => ({ value: kind, label }))}
      />
      {value.kind === 'device' && (
        <RouterField label={t.router} value={value.deviceId} error={problem?.of('deviceId')} onChange={(deviceId) => onChange({ ...value, deviceId })} />
      )}
      {value.kind === 'service' && (
        <ServiceField value={value.serviceId} error={problem?.of('serviceId')} onChange={(serviceId) => onChange({ ...value, serviceId })} />
      )}
      {value.kind === 'tag' && (
        <TextInput
          label={t.tag}
          description={t.tagHint}
          value={value.tag}
          onChange={(e) => onChange({ ...value, tag: e.currentTarget.value })}
          error={problem?.of('tag')}
          autoComplete="off"
          maxLength={64}
        />
      )}
    </Stack>
  )
}

function ServiceField({ value, error, onChange }: { value: string | null; error?: string; onChange: (id: string | null) => void }) {
  const t = useText(outagesText)
  const services = useAll('/nas/services', noFilters)
  const routers = useAll('/nas/devices', noFilters)
  const names = new Map((routers.rows ?? []).map((r) => [r.id, r.name]))
  return (
    <>
      <Select
        label={t.service}
        value={value}
        onChange={onChange}
        data={(services.rows ?? []).map((s) => ({
          value: s.id, label: t.serviceOn(s.type, s.parentInterface, names.get(s.deviceId) ?? s.deviceId),
        }))}
        error={error}
        searchable
        clearable
      />
      <PartNote of={services} />
    </>
  )
}

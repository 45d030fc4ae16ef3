import { TextInput } from '@mantine/core'
import type { Problem } from '../../api/problem'
import { useText } from '../../text/catalogue'
import { onuText } from '../../text/onu'
import { NumberField } from '../../ui/NumberField'
import type { TypedOnu } from './onu'

const plain = { autoComplete: 'off', spellCheck: false }

/** OnuFields says where an ONU is, and which service it gets. */
export function OnuFields({ of, error, onChange }: { of: TypedOnu; error: Problem | null; onChange: (onu: TypedOnu) => void }) {
  const t = useText(onuText)
  const set = (part: Partial<TypedOnu>) => onChange({ ...of, ...part })
  return (
    <>
      <TextInput {...plain} label={t.olt} description={t.oltHint} value={of.olt} onChange={(e) => set({ olt: e.currentTarget.value })} error={error?.of('onu.olt')} maxLength={32} />
      <TextInput {...plain} label={t.port} description={t.portHint} value={of.port} onChange={(e) => set({ port: e.currentTarget.value })} error={error?.of('onu.port')} maxLength={11} />
      <TextInput {...plain} label={t.serial} description={t.serialHint} value={of.serial} onChange={(e) => set({ serial: e.currentTarget.value })} error={error?.of('onu.serial')} maxLength={20} />
      <NumberField label={t.vlan} value={of.vlan} onChange={(vlan) => set({ vlan })} min={1} max={4094} whole error={error?.of('onu.vlan')} />
    </>
  )
}

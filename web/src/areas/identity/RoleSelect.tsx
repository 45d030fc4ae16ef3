import { Select } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { identityText } from '../../text/identity'
import type { Member } from './words'

/** RoleSelect offers the roles of staff, and says what the chosen one may do. */
export function RoleSelect({ role, onChange, disabled, hint }: {
  role: Member['role']
  onChange: (role: 'admin' | 'support' | 'subscriber') => void
  disabled?: boolean
  hint?: string
}) {
  const t = useText(identityText)
  return (
    <Select
      label={t.role}
      description={hint ?? t.mayDo[role]}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      data={(['admin', 'support', 'subscriber'] as const).map((value) => ({ value, label: t.roles[value] }))}
      value={role}
      onChange={(v) => v && onChange(v as 'admin' | 'support' | 'subscriber')}
      allowDeselect={false}
      disabled={disabled}
    />
  )
}

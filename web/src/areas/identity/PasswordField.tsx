import { PasswordInput, Text } from '@mantine/core'
import { type KeyboardEvent, useState } from 'react'
import { useText } from '../../text/catalogue'
import { signInText } from '../../text/signin'

/** PasswordField asks for a password, and tells when Caps Lock turns it into another one. */
export function PasswordField({ label, value, onChange, autoComplete, error, autoFocus }: {
  label: string
  value: string
  onChange: (value: string) => void
  autoComplete: 'current-password' | 'new-password'
  error?: string | false
  autoFocus?: boolean
}) {
  const t = useText(signInText)
  const [caps, setCaps] = useState(false)
  const look = (e: KeyboardEvent) => setCaps(e.getModifierState('CapsLock'))
  return (
    <PasswordInput
      label={label}
      autoComplete={autoComplete}
      value={value}
      onChange={(e) => onChange(e.currentTarget.value)}
      onKeyDown={look}
      onKeyUp={look}
      onBlur={() => setCaps(false)}
      description={caps && <Text span inherit c="var(--tone-attention)" role="status">{t.capsLock}</Text>}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      visibilityToggleButtonProps={{ 'aria-label': t.showPassword }}
      error={error}
      required
      withAsterisk={false}
      autoFocus={autoFocus}
      data-autofocus={autoFocus || undefined}
    />
  )
}

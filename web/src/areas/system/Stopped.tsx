import { Paper, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { State } from '../../ui/State'

/** AllStopped says what follows from what has stopped, above each of it. */
export function AllStopped({ hint, children }: { hint?: string; children: ReactNode }) {
  return (
    <Stack gap="xs">
      {hint && <Text size="sm">{hint}</Text>}
      {children}
    </Stack>
  )
}

/** Stopped is one thing that does not do its work: its name, why, and below it the step that helps. */
export function Stopped({ name, error, children }: { name: string; error?: string | null; children?: ReactNode }) {
  return (
    <Paper withBorder p="sm" className="stopped">
      <Stack gap="sm">
        <State tone="bad">{name}</State>
        {error && <Text size="sm" className="words">{error}</Text>}
        {children}
      </Stack>
    </Paper>
  )
}

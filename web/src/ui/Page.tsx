import { Group, Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { isolated } from '../text/isolated'
import { useFocusHere } from './useFocusHere'

/** Page is the frame of a page: its name, what can be done on it, and its content. */
export function Page({ title, name, actions, children, wide }: {
  /** title is what the page calls itself in the browser, and shows unless name says more. */
  title: string
  name?: ReactNode
  actions?: ReactNode
  children: ReactNode
  /** wide pages use all of most screens: lists. Others stop where lines get too long to read. */
  wide?: boolean
}) {
  useFocusHere()
  useEffect(() => {
    document.title = `${isolated(title)} · Lastmile`
  }, [title])
  return (
    <Stack gap="md" maw={wide ? 1880 : 1180}>
      <Group justify="space-between" align="center" gap="sm" mih={36}>
        <Title order={1} size="h3" fw={600} style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
          {name ?? title}
        </Title>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}

/** Section is a part of a page with a heading. */
export function Section({ title, actions, children }: { title: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <Stack gap="xs" component="section">
      <Group justify="space-between" mih={28}>
        <Title order={2} size="h5" fw={600}>
          {title}
        </Title>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}

import { Anchor, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** Empty teaches what a place is for: what it is, the first step, and where to read on. */
export function Empty({ title, whole, children, docs, action }: {
  title: string
  /** whole = it stands in place of a page, and its title is the page's. */
  whole?: boolean
  children?: ReactNode
  /** docs is the address of the paragraph that explains it. */
  docs?: { href: string; label: string }
  action?: ReactNode
}) {
  return (
    <Stack gap={6} align="center" ta="center" py={40} px="md">
      {whole ? <Title order={1} size="h4">{title}</Title> : <Text fw={500}>{title}</Text>}
      {children && (
        <Text size="sm" c="dimmed" maw={480}>
          {children}
        </Text>
      )}
      {action}
      {docs && (
        <Anchor href={docs.href} size="sm" target="_blank">
          {docs.label}
        </Anchor>
      )}
    </Stack>
  )
}

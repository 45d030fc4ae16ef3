import { Center, Code, Paper, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { useText } from '../../text/catalogue'
import { isolated } from '../../text/isolated'
import { signInText } from '../../text/signin'
import { usePlace } from './usePlace'

/** SignInPage is the page of those who are not signed in: the organization's name above a form. */
export function SignInPage({ children }: { children: ReactNode }) {
  const t = useText(signInText)
  const place = usePlace()
  const name = place?.name ?? ''
  useEffect(() => {
    document.title = name ? `${t.signIn} · ${isolated(name)}` : 'Lastmile'
  }, [name, t])
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack w={360} maw="100%">
        <Title order={1} size="h3" ta="center" mih={30} style={{ overflowWrap: 'anywhere' }}>{name}</Title>
        {place?.platform && (
          <Text size="sm" c="dimmed" ta="center">
            {t.platformHint} <Code>isp.{location.host}</Code>
          </Text>
        )}
        <Paper withBorder p="lg">{children}</Paper>
      </Stack>
    </Center>
  )
}

/** ClosedPage says in plain words why nobody can sign in here. */
export function ClosedPage({ title, hint }: { title: string; hint: string }) {
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack w={440} maw="100%" gap="sm">
        <Title order={1} size="h3">{title}</Title>
        <Text size="sm">{hint}</Text>
      </Stack>
    </Center>
  )
}

import { Center, Code, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { client } from '../../api/client'
import { useText } from '../../text/catalogue'
import { isolated } from '../../text/isolated'
import { signInText } from '../../text/signin'

/** usePlace tells whose address this is, before anybody has signed in; undefined = not known yet. */
export function usePlace(): { platform: boolean; name: string } | undefined {
  const t = useText(signInText)
  const index = useQuery({
    queryKey: ['get', '/', {}],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await client.GET('/', { signal })).data!,
  })
  if (!index.data) return undefined
  const { organization } = index.data
  return { platform: !organization, name: organization || t.platformName }
}

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

/** ClosedPage says in plain words why nobody can sign in here, or why this person finds nothing. */
export function ClosedPage({ title, hint, action }: { title: string; hint: string; action?: ReactNode }) {
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack w={440} maw="100%" gap="sm">
        <Title order={1} size="h3">{title}</Title>
        <Text size="sm">{hint}</Text>
        {action}
      </Stack>
    </Center>
  )
}

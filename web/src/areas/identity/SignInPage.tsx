import { Center, Paper, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { client } from '../../api/client'

/** SignInPage is the page of those who are not signed in: the organization's name above a form. */
export function SignInPage({ children }: { children: ReactNode }) {
  const index = useQuery({
    queryKey: ['get', '/', {}],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await client.GET('/', { signal })).data!,
  })
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack w={360} maw="100%">
        <Title order={1} size="h3" ta="center" mih={30} style={{ overflowWrap: 'anywhere' }}>
          {index.data && (index.data.organization || 'Lastmile')}
        </Title>
        <Paper withBorder p="lg">{children}</Paper>
      </Stack>
    </Center>
  )
}

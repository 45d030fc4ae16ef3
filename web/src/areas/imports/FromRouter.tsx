import { Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { proposalsText } from '../../text/proposals'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { RouterFilter } from '../../ui/RouterFilter'

/** FromRouter has a router read, and leads to what can be made of it. */
export function FromRouter() {
  const t = useText(proposalsText)
  const navigate = useNavigate()
  const [router, setRouter] = useState<string>()
  const reading = useWrite('post', '/import-proposals', {
    then: (made) => void navigate({ to: '/imports/routers/$id', params: { id: made.id } }),
  })
  return (
    <Section title={t.fromRouter}>
      <Text size="sm" c="dimmed" maw={760}>{t.fromHint}</Text>
      <Stack gap="md">
        <Group align="end" gap="sm">
          <RouterFilter value={router} onChange={setRouter} />
          <Button
            variant="default" disabled={!router} loading={reading.isPending}
            onClick={() => router && reading.mutate({ body: { deviceId: router } })}
          >
            {t.read}
          </Button>
        </Group>
        {reading.error && <ProblemNote of={reading.error} />}
      </Stack>
    </Section>
  )
}

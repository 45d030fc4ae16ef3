import { Anchor, Button, Stack, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { useFormat } from '../../text/format'
import { importsText } from '../../text/imports'
import { Loaded } from '../../ui/Loaded'
import { Page } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import { State } from '../../ui/State'

/** ExportPage answers: how do I get a copy of all that we have here? */
export default function ExportPage() {
  const t = useText(importsText)
  const { of } = useSearch({ from: '/export' })
  const navigate = useNavigate({ from: '/export' })
  const ask = useWrite('post', '/exports', { then: (made) => void navigate({ search: { of: made.id }, replace: true }) })
  return (
    <Page title={t.exportAll}>
      <Text size="sm" c="dimmed" maw={760}>{t.exportHint}</Text>
      <Stack gap="md" align="start">
        <Button variant={of ? 'default' : 'filled'} loading={ask.isPending} onClick={() => ask.mutate({})}>{t.makeExport}</Button>
        {ask.error && <ProblemNote of={ask.error} />}
        {of && <Copy of={of} />}
      </Stack>
    </Page>
  )
}

/** Copy waits for the copy and leads to it. */
function Copy({ of }: { of: string }) {
  const t = useText(importsText)
  const f = useFormat()
  const read = api.useQuery('get', '/exports/{id}', { params: { path: { id: of } } }, {
    refetchInterval: (q) => (q.state.data?.state === 'queued' ? 1500 : false),
  })
  return (
    <Loaded read={read} height={60}>
      {(copy) => (
        <Stack gap="xs" align="start" role="status">
          <State tone={copy.state === 'finished' ? 'good' : copy.state === 'ended' || copy.state === 'failed' ? 'attention' : 'quiet'}>
            {t.exportStates[copy.state]}
          </State>
          {copy.url && <Anchor href={copy.url} download>{t.fetchExport(f.bytes(copy.bytes))}</Anchor>}
          {copy.url && copy.endsAt && <Text size="sm" c="dimmed">{t.keptUntil(f.exact(copy.endsAt))}</Text>}
        </Stack>
      )}
    </Loaded>
  )
}

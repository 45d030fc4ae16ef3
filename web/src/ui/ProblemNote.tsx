import { Alert, Anchor, Button, Group, List, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { asProblem } from '../api/problem'
import { useText } from '../text/catalogue'
import { problemText, sentences } from '../text/problems'
import { uiText } from '../text/ui'
import { CopyText } from './CopyText'
import { TriangleAlert } from './icons'
import { useSecondsLeft } from './useSecondsLeft'

/** ProblemNote tells what failed, what to do about it, and the request id to pass on. */
export function ProblemNote({ of, retry, next }: { of: unknown; retry?: () => void; next?: ReactNode }) {
  const t = useText(uiText)
  const words = useText(problemText)
  const problem = asProblem(of)
  const left = useSecondsLeft(of)
  const says = sentences(problem, words, left)
  return (
    <Alert color="red" variant="light" icon={<TriangleAlert size={18} aria-hidden />} role="alert" p="sm">
      {says.length === 1 ? <Text size="sm">{says[0]}</Text> : (
        <List size="sm">
          {says.map((s) => (
            <List.Item key={s}>{s}</List.Item>
          ))}
        </List>
      )}
      <Group gap="sm" mt={6}>
        {retry && (
          <Button size="compact-sm" variant="default" onClick={retry} disabled={left > 0}>
            {t.retry}
          </Button>
        )}
        {next}
        {problem.status > 0 && (
          <Anchor href={`/docs/errors#${problem.code}`} size="xs" target="_blank">
            {problem.code}
          </Anchor>
        )}
        {problem.requestId && (
          <Text size="xs" c="dimmed">
            {t.request} <CopyText text={problem.requestId} />
          </Text>
        )}
      </Group>
    </Alert>
  )
}

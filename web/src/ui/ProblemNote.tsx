import { Alert, Anchor, Button, Group, List, Text } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { asProblem } from '../api/problem'
import { listOf, nameOfPlace } from '../app/navigation'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { problemText, sentences } from '../text/problems'
import { uiText } from '../text/ui'
import { CopyText } from './CopyText'
import { TriangleAlert } from './icons'
import { PageLink } from './PageLink'
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
        {retry && problem.status === 404 && <BackToList />}
        {retry && problem.status !== 404 && (
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

/** BackToList leads from the page of something that is not there to the list of those that are. */
function BackToList() {
  const t = useText(uiText)
  const app = useText(appText)
  const { state, basepath } = useRouter()
  const to = listOf(state.location.pathname.replace(basepath, ''))
  const name = nameOfPlace(to)
  return name && (
    <Button size="compact-sm" variant="default" renderRoot={(props) => <PageLink {...props} to={to} />}>{t.backTo(app[name])}</Button>
  )
}

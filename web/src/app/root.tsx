import { createRootRoute, Link } from '@tanstack/react-router'
import { Button } from '@mantine/core'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Empty } from '../ui/Empty'
import { ProblemNote } from '../ui/ProblemNote'
import { Shell } from './Shell'

/** rootRoute is the frame in which every page stands. */
export const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NotHere,
  errorComponent: Failed,
})

/** NotHere is shown at addresses that no page has. */
export function NotHere() {
  const t = useText(appText)
  return (
    <Empty whole title={t.notHere} action={<Button component={Link} to="/" variant="default">{t.goHome}</Button>}>
      {t.notHereHint}
    </Empty>
  )
}

/** Failed is shown in place of a page that has thrown. The frame around it lives. */
export function Failed({ error }: { error: unknown }) {
  const t = useText(appText)
  const words = useText(uiText)
  return (
    <Empty
      whole
      title={t.failed}
      action={
        <>
          {error instanceof Error && <ProblemNote of={error} />}
          <Button variant="default" onClick={() => location.reload()}>{words.reload}</Button>
        </>
      }
    >
      {t.failedHint}
    </Empty>
  )
}

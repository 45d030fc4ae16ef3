import { createRootRoute, Link } from '@tanstack/react-router'
import { Button } from '@mantine/core'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { Empty } from '../ui/Empty'
import { Failed } from './Failed'
import { Shell } from './Shell'

/** rootRoute is the frame in which every page stands. */
export const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NotHere,
  errorComponent: Failed,
})

/** NotHere is shown at addresses that no page has. */
function NotHere() {
  const t = useText(appText)
  return (
    <Empty whole title={t.notHere} action={<Button component={Link} to="/" variant="default">{t.goHome}</Button>}>
      {t.notHereHint}
    </Empty>
  )
}

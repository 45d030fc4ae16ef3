import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import type { Operation } from '../api/access'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { Empty } from '../ui/Empty'
import { useMay } from './person'

/**
 * page makes a route's component of a page that is read when it is opened first. Who may not make the call that the
 * page lives on is told so instead.
 */
export function page(needs: Operation, load: () => Promise<{ default: ComponentType }>): () => ReactNode {
  const Content = lazy(load)
  return function Guarded() {
    const may = useMay()
    if (!may(needs)) return <NotYours />
    return (
      <Suspense>
        <Content />
      </Suspense>
    )
  }
}

/** NotYours is shown in place of a page that the person's role does not have. */
export function NotYours() {
  const t = useText(appText)
  return (
    <Empty whole title={t.notYours} action={<Button component={Link} to="/" variant="default">{t.goHome}</Button>}>
      {t.notYoursHint}
    </Empty>
  )
}

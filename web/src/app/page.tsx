import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, useState } from 'react'
import type { Operation } from '../api/access'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { Empty } from '../ui/Empty'
import { later } from '../ui/later'
import { useMay } from './person'

/** Guarded is a route's component. The router calls preload when the route is opened, or a link to it pointed at. */
interface Guarded {
  (): ReactNode
  preload: () => Promise<void>
}

/**
 * page makes a route's component of a page that is read when it is opened first. Who may not make the call that the
 * page lives on is told so instead.
 */
export function page(needs: Operation, load: () => Promise<{ default: ComponentType }>): Guarded {
  const Later = later(async () => (await load()).default, { whole: true })
  let loaded: ComponentType | null = null
  const guarded: Guarded = () => {
    const may = useMay()
    // A page that has been read is drawn at once. One that is drawn already does not begin anew when it has been read.
    const [Content] = useState<ComponentType>(() => loaded ?? Later)
    if (!may(needs)) return <NotYours />
    return <Content />
  }
  guarded.preload = async () => {
    // What cannot be read before it is asked for is read, or missed, when it is.
    loaded = (await load().catch(() => null))?.default ?? null
  }
  return guarded
}

/** NotYours is shown in place of a page that the person's role does not have. */
function NotYours() {
  const t = useText(appText)
  return (
    <Empty whole title={t.notYours} action={<Button component={Link} to="/" variant="default">{t.goHome}</Button>}>
      {t.notYoursHint}
    </Empty>
  )
}

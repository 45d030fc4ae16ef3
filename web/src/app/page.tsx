import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ComponentType, ReactNode } from 'react'
import type { Operation } from '../api/access'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { Empty } from '../ui/Empty'
import { later } from '../ui/later'
import { isElsewhere } from './navigation'
import { useMay, usePerson } from './person'
import { usePath } from './usePath'

const Elsewhere = later(() => import('./Elsewhere').then((m) => m.Elsewhere), { whole: true })

/** Guarded is a route's component. The router calls preload when the route is opened, or a link to it pointed at. */
interface Guarded {
  (): ReactNode
  preload: () => Promise<void>
}

/**
 * page makes a route's component of a page that is read when it is opened first. Who may not make the call that the
 * page lives on is told so instead, and so is who opens it on a host that does not have it.
 */
export function page(needs: Operation, load: () => Promise<{ default: ComponentType }>): Guarded {
  const Later = later(async () => (await load()).default, { whole: true })
  const guarded: Guarded = () => {
    const may = useMay()
    const { platform } = usePerson()
    const path = usePath()
    if (isElsewhere(path, platform)) return <Elsewhere path={path} />
    return may(needs) ? <Later /> : <NotYours />
  }
  guarded.preload = Later.preload
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

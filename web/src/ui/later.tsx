import { Alert, Button, Text } from '@mantine/core'
import { type ComponentType, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { readAgain } from '../api/again'
import { useLive } from '../api/stream'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Boundary } from './Boundary'
import { TriangleAlert } from './icons'
import { Missing, readPart } from './parts'
import { reloadOnce } from './version'

/** Options of a part that is read later. */
interface Options<Props> {
  /** height is the place of a part that stands in the page, kept until it has been read. */
  height?: number
  /** whole = it is a whole page: of another version of the program it is opened anew at once. */
  whole?: boolean
  /** meanwhile is drawn as long as it is being read. */
  meanwhile?: ComponentType<Props>
}

/**
 * later makes a part of a page that is read when it is drawn first: dialogs, and parts that another address opens. One
 * that cannot be read takes nothing else away, and can be asked for again. preload reads it before; what has been read
 * is drawn at once, so that the next key that is pressed is its own.
 */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>, options: Options<Props> = {}) {
  let loaded: ComponentType<Props> | null = null
  const read = () => lazy(async () => ({ default: (loaded = await readPart(load)) as ComponentType<object> }))
  let content = read()
  const { height, meanwhile: Meanwhile } = options
  function Later(props: Props) {
    const [tries, setTries] = useState(0)
    // One that is drawn already does not begin anew when it has been read.
    const [Ready] = useState(() => loaded)
    if (Ready) return <Ready {...props} />
    const Content = content
    const again = () => {
      content = read()
      setTries((n) => n + 1)
    }
    // What stands there is drawn anew once there is something to draw.
    const look = () => load().then(again, () => undefined)
    return (
      <Boundary key={tries} instead={(error) => <NotRead error={error} of={options} again={again} look={look} />}>
        <Suspense fallback={Meanwhile ? <Meanwhile {...props} /> : height && <div aria-busy style={{ minHeight: height }} />}>
          <Content {...props} />
        </Suspense>
      </Boundary>
    )
  }
  Later.preload = async () => {
    loaded = await load().catch(() => loaded) // what is missed is read, or missed, when it is drawn
  }
  return Later
}

/** NotReadProps: again draws the part anew, look does so when it can be read by now. */
interface NotReadProps {
  error: unknown
  of: Pick<Options<object>, 'height' | 'whole'>
  again: () => void
  look: () => Promise<void>
}

/** useLooks looks again for what could not be read, as all reads do, and when the way to the server is there again. */
function useLooks(look: () => Promise<void>, on: boolean) {
  const live = useLive() === 'live'
  const now = useRef(look)
  now.current = look
  const was = useRef(live)
  useEffect(() => {
    if (on && live && !was.current) void now.current()
    was.current = live
  }, [on, live])
  useEffect(() => {
    if (!on) return
    const again = () => void now.current()
    const timer = setInterval(again, readAgain)
    window.addEventListener('online', again)
    return () => {
      clearInterval(timer)
      window.removeEventListener('online', again)
    }
  }, [on])
}

/** NotRead says that a part is missing, and how to get it: in its place, or above the page for one without a place. */
function NotRead({ error, of: { height, whole }, again, look }: NotReadProps) {
  const t = useText(uiText)
  const missing = error instanceof Missing
  const old = missing && error.old
  useLooks(look, missing && !old)
  useEffect(() => {
    if (old && whole) reloadOnce()
  }, [old, whole])
  if (!missing) throw error
  return (
    <Alert
      color="red"
      icon={<TriangleAlert size={18} aria-hidden />}
      role="alert"
      p="sm"
      className={height || whole ? undefined : 'at-bottom'}
    >
      <Text size="sm" mb={6}>{old ? t.newVersionHint : t.partMissing}</Text>
      {old
        ? <Button size="compact-sm" variant="default" onClick={() => location.reload()}>{t.loadVersion}</Button>
        : <Button size="compact-sm" variant="default" onClick={again}>{t.retry}</Button>}
    </Alert>
  )
}

import { Alert, Button, Text } from '@mantine/core'
import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react'
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
      setTries(tries + 1)
    }
    return (
      <Boundary key={tries} instead={(error) => <NotRead error={error} of={options} again={again} />}>
        <Suspense fallback={Meanwhile ? <Meanwhile {...props} /> : height && <div style={{ minHeight: height }} />}>
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

/** NotRead says that a part is missing, and how to get it: in its place, or above the page for one without a place. */
function NotRead({ error, of: { height, whole }, again }: { error: unknown; of: Pick<Options<object>, 'height' | 'whole'>; again: () => void }) {
  const t = useText(uiText)
  if (!(error instanceof Missing)) throw error
  const { old } = error
  useEffect(() => {
    if (old && whole) reloadOnce()
  }, [old, whole])
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

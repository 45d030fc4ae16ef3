import { type ComponentType, lazy, Suspense } from 'react'

/**
 * later makes a part of a page that is read when it is drawn first: dialogs, and parts that another address opens. Until
 * it has been read, a part that stands in the page keeps its place by `height`.
 */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>, height?: number) {
  const Content = lazy(async () => ({ default: await load() as ComponentType<object> }))
  return function Later(props: Props) {
    return (
      <Suspense fallback={height && <div style={{ minHeight: height }} />}>
        <Content {...props} />
      </Suspense>
    )
  }
}

import { type ComponentType, lazy, Suspense } from 'react'

/** later makes a part of a page that is read when it is drawn first: dialogs, and parts that another address opens. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  const Content = lazy(async () => ({ default: await load() as ComponentType<object> }))
  return function Later(props: Props) {
    return (
      <Suspense>
        <Content {...props} />
      </Suspense>
    )
  }
}

import { notifications } from '@mantine/notifications'
import type { PathsWithMethod } from 'openapi-typescript-helpers'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import type { paths } from './schema.gen'
import { type Answer, type Done, type Method, useSending, waitsFor } from './sending'

/** After says what a page does when a write has succeeded. */
interface After<A> extends Omit<Done<A>, 'tell'> {
  /**
   * told gives the sentence that says what was done; undefined = nothing is told. A write that is not shown yet has a
   * sentence of its own instead.
   */
  told?: (answer: A) => string
}

/** useWrite makes a write of the dashboard, which says below the page what was done. */
export function useWrite<M extends Method, P extends PathsWithMethod<paths, M>>(
  method: M,
  path: P,
  { told, ...after }: After<Answer<M, P>> = {},
) {
  const words = useText(uiText)
  return useSending(method, path, {
    ...after,
    tell: (answer, shown) => {
      if (waitsFor(answer)) {
        notifications.show({ message: words.waitsForSecond, color: 'yellow', autoClose: 15_000 })
        return
      }
      if (!shown) {
        notifications.show({ message: words.savedNotShown, color: 'yellow', autoClose: 15_000 })
        return
      }
      const text = told?.(answer)
      if (text) notifications.show({ message: text, color: 'teal', autoClose: 6000 })
    },
  })
}

import { useRouter } from '@tanstack/react-router'
import type { ComponentPropsWithRef, MouseEvent } from 'react'

/**
 * PageLink leads to a page by its address, as lists and the navigation have hundreds of them: the router's own Link
 * compares the address with every route whenever it is drawn, and this one when it is followed.
 */
export function PageLink({ to, search, ...rest }: ComponentPropsWithRef<'a'> & {
  /** to is the address without /app and without parameters. */
  to: string
  search?: Record<string, string | boolean | undefined>
}) {
  const router = useRouter()
  const way = { to, search: search as never }
  const follow = (e: MouseEvent) => {
    // The browser itself opens a link in another window.
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return
    e.preventDefault()
    void router.navigate(way)
  }
  return (
    <a
      {...rest}
      href={`${router.basepath}${to}${search ? router.options.stringifySearch(search) : ''}`}
      onPointerDown={() => void router.preloadRoute(way)}
      onClick={follow}
    />
  )
}

import { useRouter, useRouterState } from '@tanstack/react-router'

const withoutBase = (path: string, base: string) => (path.startsWith(base) ? path.slice(base.length) || '/' : path)

/** usePath follows the path of the page. The router's addresses may begin with /app, those of places do not. */
export function usePath(): string {
  const { basepath } = useRouter()
  return useRouterState({ select: (s) => withoutBase(s.location.pathname, basepath) })
}

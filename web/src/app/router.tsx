import { createRouter } from '@tanstack/react-router'
import { homeRoutes } from '../areas/home/routes'
import { subscribersRoutes } from '../areas/subscribers/routes'
import { rootRoute } from './root'

const routeTree = rootRoute.addChildren([...homeRoutes, ...subscribersRoutes])

/** router knows every page. Addresses are below /app. */
export const router = createRouter({
  routeTree,
  basepath: '/app',
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface HistoryState {
    /** found marks a page that was opened from the search: Esc leads back. */
    found?: boolean
  }
}

import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { rootRoute } from '../../app/root'

const organizations = createRoute({
  getParentRoute: () => rootRoute,
  path: '/orgs',
  component: page('GET /orgs', () => import('./OrganizationsPage')),
})

const newOrganization = createRoute({
  getParentRoute: () => rootRoute,
  path: '/orgs/new',
  component: page('POST /orgs', () => import('./NewOrganizationPage')),
})

const organization = createRoute({
  getParentRoute: () => rootRoute,
  path: '/orgs/$id',
  component: page('GET /orgs/{id}', () => import('./OrganizationPage')),
})

export const platformRoutes = [organizations, newOrganization, organization] as const

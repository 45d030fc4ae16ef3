import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

const organizations = createRoute({
  getParentRoute: () => rootRoute,
  path: '/orgs',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({ q: p.text('q'), status: p.oneOf('status', ['active', 'suspended'] as const) })
  },
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

const billManager = createRoute({
  getParentRoute: () => rootRoute,
  path: '/bill-manager',
  component: page('GET /bill-manager/opt-in', () => import('./OptInPage')),
})

export const platformRoutes = [organizations, newOrganization, organization, billManager] as const

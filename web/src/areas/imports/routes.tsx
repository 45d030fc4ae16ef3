import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

const imports = createRoute({
  getParentRoute: () => rootRoute,
  path: '/imports',
  component: page('GET /imports', () => import('./ImportsPage')),
})

const oneImport = createRoute({
  getParentRoute: () => rootRoute,
  path: '/imports/$id',
  component: page('GET /imports/{id}', () => import('./ImportPage')),
})

const proposal = createRoute({
  getParentRoute: () => rootRoute,
  path: '/imports/routers/$id',
  component: page('GET /import-proposals/{id}', () => import('./ProposalPage')),
})

const exportAll = createRoute({
  getParentRoute: () => rootRoute,
  path: '/export',
  validateSearch: (raw) => {
    const p = new Params(raw)
    /** of is the copy that was asked for, so that whoever comes back finds it. */
    return given({ of: p.text('of') })
  },
  component: page('POST /exports', () => import('./ExportPage')),
})

export const importsRoutes = [imports, oneImport, proposal, exportAll] as const

import { createRoute } from '@tanstack/react-router'
import { page } from '../../app/page'
import { given, Params } from '../../app/params'
import { rootRoute } from '../../app/root'

/** deviceViews are the parts of a device's page. */
export const deviceViews = ['overview', 'operations', 'tests', 'faults'] as const

// The values of the filter state of a deployment's devices.
const partStates = ['pending', 'sent', 'succeeded', 'failed', 'skipped'] as const

const devices = createRoute({
  getParentRoute: () => rootRoute,
  path: '/devices',
  validateSearch: (raw) => {
    const p = new Params(raw)
    return given({
      q: p.text('q'), online: p.flag('online'), stale: p.flag('stale'), model: p.text('model'),
      firmwareVersion: p.text('firmwareVersion'), subscriberId: p.text('subscriberId'),
    })
  },
  component: page('GET /cpe/devices', () => import('./DevicesPage')),
})

const pending = createRoute({
  getParentRoute: () => rootRoute,
  path: '/pending-devices',
  validateSearch: (raw) => given({ serial: new Params(raw).text('serial') }),
  component: page('GET /cpe/pending', () => import('./PendingPage')),
})

const device = createRoute({
  getParentRoute: () => rootRoute,
  path: '/devices/$id',
  validateSearch: (raw) => given({ view: new Params(raw).oneOf('view', deviceViews) }),
  component: page('GET /cpe/devices/{id}', () => import('./DevicePage')),
})

const faults = createRoute({
  getParentRoute: () => rootRoute,
  path: '/device-faults',
  component: page('GET /cpe/faults', () => import('./FaultsPage')),
})

const firmware = createRoute({
  getParentRoute: () => rootRoute,
  path: '/firmware',
  component: page('GET /cpe/firmware', () => import('./FirmwarePage')),
})

const campaign = createRoute({
  getParentRoute: () => rootRoute,
  path: '/campaigns/$id',
  validateSearch: (raw) => given({ state: new Params(raw).oneOf('state', partStates) }),
  component: page('GET /cpe/firmware/campaigns/{id}', () => import('./CampaignPage')),
})

const scripts = createRoute({
  getParentRoute: () => rootRoute,
  path: '/device-scripts',
  component: page('GET /cpe/provisions', () => import('./ScriptsPage')),
})

const script = createRoute({
  getParentRoute: () => rootRoute,
  path: '/device-scripts/$name',
  component: page('GET /cpe/provisions/{name}', () => import('./ScriptPage')),
})

export const cpeRoutes = [devices, pending, device, faults, firmware, campaign, scripts, script] as const

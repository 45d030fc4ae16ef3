import type { Shape } from '../../api/types'
import type { Device } from './words'

/** TypedRouter is the form of a router as it is typed; a secret that is empty is not given. */
export interface TypedRouter {
  name: string
  ipAddress: string
  radiusSecret: string
  apiPort: number | ''
  coaPort: number | ''
  apiUsername: string
  apiPassword: string
  managementAddress: string
  requireMessageAuthenticator: boolean
  /** upstreamId is the router behind which it stands; "" = behind none. */
  upstreamId: string
  secretsVersion: string | null
}

/** noRouter is the form before anything is typed. */
export const noRouter: TypedRouter = {
  name: '', ipAddress: '', radiusSecret: '', apiPort: '', coaPort: '', apiUsername: '', apiPassword: '',
  managementAddress: '', requireMessageAuthenticator: false, upstreamId: '', secretsVersion: null,
}

/** routerSecrets are written and never read. */
export const routerSecrets = { version: 'secretsVersion', fields: ['radiusSecret', 'apiUsername', 'apiPassword'] } as const

/** typedOf is the form of a router that exists; its secrets are never shown. */
export function typedOf(d: Device): TypedRouter {
  return {
    ...noRouter, name: d.name, ipAddress: d.ipAddress, apiPort: d.apiPort, coaPort: d.coaPort,
    managementAddress: d.managementAddress ?? '', requireMessageAuthenticator: d.requireMessageAuthenticator,
    upstreamId: d.upstreamId ?? '', secretsVersion: d.secretsVersion,
  }
}

/** registered is the request for a new router. */
export function registered(t: TypedRouter): Shape<'DeviceRequest'> {
  return {
    name: t.name.trim(), ipAddress: t.ipAddress.trim(), radiusSecret: t.radiusSecret,
    ...(t.apiPort !== '' && { apiPort: t.apiPort }),
    ...(t.coaPort !== '' && { coaPort: t.coaPort }),
    ...(t.apiUsername && { apiUsername: t.apiUsername }),
    ...(t.apiPassword && { apiPassword: t.apiPassword }),
    ...(t.managementAddress.trim() && { managementAddress: t.managementAddress.trim() }),
    ...(t.requireMessageAuthenticator && { requireMessageAuthenticator: true }),
    ...(t.upstreamId && { upstreamId: t.upstreamId }),
  }
}

/** corrected is the request for what differs from before; empty when nothing does. */
export function corrected(before: TypedRouter, t: TypedRouter): Shape<'DeviceChange'> {
  const change: Record<string, unknown> = {}
  for (const key of Object.keys(before) as (keyof TypedRouter)[]) {
    if (key === routerSecrets.version) continue
    const value = t[key]
    const typed = typeof value === 'string' && key !== 'radiusSecret' && key !== 'apiPassword' ? value.trim() : value
    if (typed === before[key]) continue
    change[key] = typed === '' ? null : typed
  }
  return change
}

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'

/** newSecret makes a RADIUS secret of 32 letters and digits, about 186 bits. */
export function newSecret(): string {
  let secret = ''
  while (secret.length < 32) {
    // A byte above the last full round would make the first letters likelier.
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      if (byte < letters.length * 4 && secret.length < 32) secret += letters[byte % letters.length]
    }
  }
  return secret
}

import type { Shape } from '../../api/types'
import type { Tone } from '../../ui/State'
import type { Device, Service } from './words'

/** Step is what helps a router, as the button beside the answer does it. */
type Step = 'script' | 'ping' | 'settings' | 'differences' | 'services' | 'addService'

/** Finding is one thing that is the matter with a router. */
export interface Finding {
  code:
    | 'well' | 'new' | 'down' | 'login' | 'noLogin' | 'secret' | 'doubtful' | 'unproven' | 'noSession' | 'rebooting'
    | 'rebootFailed' | 'setup' | 'unchecked' | 'failed' | 'degraded' | 'differs' | 'pending' | 'script' | 'noService'
  tone: Tone
  step: Step | null
  /** count of what is the matter: sign-ins, places, services. */
  count: number
  /** words of the router or of the program, as they came. */
  words: string | null
}

/** Compared is what a part of a router was found to be like when somebody read it from the router itself. */
export interface Compared {
  /** at is when it was read, in milliseconds of the server's clock. */
  at: number
  /** differing counts the places that differ. */
  differing: number
}

/** Known is what is known of a router without asking it. Parts that could not be read are undefined. */
export interface Known {
  device: Device
  services?: Service[]
  refusals?: Shape<'RefusalResponse'>[]
  /** now is the server's time, in milliseconds. */
  now: number
  /** compared has the parts that somebody has just compared, each if its newest read has succeeded. */
  compared?: { services?: Compared; firewall?: Compared; setup?: Compared }
}

// Devices dial again within minutes, so that a router whose secret is right again is told of no longer than this.
const present = 15 * 60_000

/** answeredAll reports whether all parts could be compared after an instant: then an older failure is over. */
function answeredAll({ services, firewall, setup }: NonNullable<Known['compared']>, since: string): boolean {
  return [services, firewall, setup].every((part) => part !== undefined && part.at > Date.parse(since))
}

/** setupPlaces counts the places at which the setup differs: as it was read after the platform's check found it so. */
function setupPlaces({ setupDrift: drift }: Device, read: Compared | undefined): number {
  if (!drift) return 0
  return read && read.at > Date.parse(drift.firstSeenAt) ? read.differing : drift.resources.length
}

/**
 * findingsOf says what is the matter with a router, the cause of the rest first; without anything it is well. What only
 * follows from an earlier finding is left out: a router that is silent cannot be compared either.
 */
export function findingsOf({ device, services, refusals = [], compared = {}, now }: Known): Finding[] {
  const found: Finding[] = []
  const add = (code: Finding['code'], tone: Tone, step: Step | null, count = 0, words: string | null = null) =>
    found.push({ code, tone, step, count, words })
  const refused = (code: Shape<'RefusalResponse'>['code']) => refusals
    .filter((r) => r.code === code && now - Date.parse(r.at) < present).reduce((sum, r) => sum + r.count, 0)

  const silent = device.unreachableSince !== null || device.poll?.reachable === false
  const ran = device.bootstrap.version > 0 || device.transport !== null
  const stage = device.reboot?.stage
  const rebooting = stage === 'requested' || stage === 'started' || stage === 'accepted'
  if (rebooting) add('rebooting', 'attention', null)
  else if (stage === 'failed') add('rebootFailed', 'attention', null, 0, device.reboot?.message ?? null)

  if (!ran) add('new', 'attention', 'script', 0, device.error)
  else if (!device.hasApiCredentials) add('noLogin', 'bad', 'script')
  else if (silent && /user name or password/i.test(device.error ?? '')) add('login', 'bad', 'settings', 0, device.error)
  else if (silent && !rebooting) add('down', 'bad', 'ping', 0, device.error)

  if (refused('wrong_secret') > 0) add('secret', 'bad', 'script', refused('wrong_secret'))
  else if (refused('secret_doubtful') > 0) add('doubtful', 'bad', 'script', refused('secret_doubtful'))
  else if (refused('no_session') > 0) add('noSession', 'attention', 'script', refused('no_session'))
  if (refused('unproven') > 0) add('unproven', 'bad', 'settings', refused('unproven'))

  const inState = (state: string) => services?.filter((s) => s.state === state && !s.removing) ?? []
  const failed = inState('failed')
  if (failed.length > 0) add('failed', 'bad', 'services', failed.length, failed[0]?.lastError?.message ?? null)
  if (inState('degraded').length > 0) add('degraded', 'attention', 'differences', inState('degraded').length)
  const setup = setupPlaces(device, compared.setup)
  if (setup > 0) add('setup', 'attention', 'differences', setup)
  const differing = [compared.services, compared.firewall, compared.setup].reduce((sum, part) => sum + (part?.differing ?? 0), 0)
  if (differing > 0 && !found.some((f) => f.step === 'differences')) add('differs', 'attention', 'differences', differing)
  const unchecked = device.driftUnchecked
  if (!silent && unchecked && !answeredAll(compared, unchecked.since)) add('unchecked', 'attention', 'differences', 0, unchecked.error)
  if (ran && !device.bootstrap.upToDate && !found.some((f) => f.step === 'script')) add('script', 'attention', 'script')
  if (!silent && inState('pending').length > 0) add('pending', 'attention', 'services', inState('pending').length)
  if (found.length === 0 && services?.length === 0) add('noService', 'quiet', 'addService')
  if (found.length === 0) add('well', 'good', null)
  return found
}

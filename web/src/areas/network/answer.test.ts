import { describe, expect, it } from 'vitest'
import { findingsOf, type Known } from './answer'

const device: Known['device'] = {
  id: 'd', name: 'tower', ipAddress: '192.0.2.1', coaPort: 3799, apiPort: 80, hasApiCredentials: true, secretsVersion: null,
  tunnelAddress: '10.99.0.2', tunnelUser: 'nas-d', managementAddress: null, upstreamId: null, upstreamName: null, requireMessageAuthenticator: false,
  transport: { protocol: 'rest', tls: false, port: 80, version: '7.16', boardName: 'RB' }, unreachableSince: null, error: null,
  bootstrap: { version: 2, newest: 2, upToDate: true, reportedAt: null }, setupDrift: null, driftUnchecked: null, reboot: null,
  createdAt: '2026-01-01T00:00:00Z', poll: null,
}
const service = { state: 'active', removing: false } as NonNullable<Known['services']>[number]
const now = Date.parse('2026-03-02T09:00:00Z')
const fine = { at: 1000, differing: 0 }
const codes = (known: Partial<Known>) => findingsOf({ device, services: [service], now, ...known }).map((f) => f.code)
const refusal = (code: NonNullable<Known['refusals']>[number]['code'], count: number) => ({ code, count, at: new Date(now - 60_000).toISOString(), deviceId: 'd', deviceName: null })

describe('what is the matter with a router', () => {
  it('is nothing when it answers and is as it should be', () => {
    expect(codes({})).toEqual(['well'])
    expect(codes({ services: undefined })).toEqual(['well'])
  })
  it('is its script as long as none has run, whatever follows from that', () => {
    const fresh = { ...device, transport: null, hasApiCredentials: false, unreachableSince: '2026-01-01T00:00:00Z', error: 'no answer',
      bootstrap: { version: 0, newest: 2, upToDate: false, reportedAt: null } }
    expect(codes({ device: fresh, services: [] })).toEqual(['new'])
  })
  it('is its silence before what cannot be known because of it', () => {
    const silent = { ...device, unreachableSince: '2026-01-01T00:00:00Z', driftUnchecked: { error: 'x', since: '' } }
    expect(codes({ device: silent, services: [{ ...service, state: 'pending' }] })).toEqual(['down'])
  })
  it('is a silence of the newest poll, too, but not while it reboots', () => {
    const poll = { at: '', reachable: false, cpuPercent: null, memoryPercent: null, activeSessions: null, responseMs: null }
    expect(codes({ device: { ...device, poll } })).toEqual(['down'])
    const reboots = { ...device, poll, reboot: { at: '', stage: 'accepted' as const, message: null, uptimeSeconds: null } }
    expect(codes({ device: reboots })).toEqual(['rebooting'])
  })
  it('is the login when the router refuses that', () => {
    const error = 'The router does not accept the API user name or password.'
    expect(codes({ device: { ...device, unreachableSince: '2026-01-01T00:00:00Z', error } })).toEqual(['login'])
  })
  it('counts the sign-ins that a wrong secret has cost, and asks for one script only', () => {
    const old = { ...device, bootstrap: { ...device.bootstrap, upToDate: false } }
    const found = findingsOf({ device: old, services: [service], now, refusals: [refusal('wrong_secret', 3), refusal('wrong_secret', 4)] })
    expect(found.map((f) => [f.code, f.count])).toEqual([['secret', 7]])
    const mended = { ...refusal('wrong_secret', 18), at: new Date(now - 16 * 60_000).toISOString() }
    expect(codes({ refusals: [mended] })).toEqual(['well'])
  })
  it('is a difference that somebody has just seen, until a check of the platform tells it', () => {
    const compared = { services: { at: 0, differing: 2 }, firewall: fine }
    expect(codes({ compared })).toEqual(['differs'])
    const unread: Known['compared'] = { services: undefined, firewall: undefined, setup: undefined }
    expect(codes({ compared: unread })).toEqual(['well'])
    expect(codes({ compared, services: [{ ...service, state: 'degraded' }] })).toEqual(['degraded'])
  })
  it('is not an old failure to compare it once all parts could be read after it', () => {
    const unchecked = { ...device, driftUnchecked: { error: 'too slow', since: new Date(500).toISOString() } }
    expect(codes({ device: unchecked })).toEqual(['unchecked'])
    expect(codes({ device: unchecked, compared: { services: fine, firewall: fine } })).toEqual(['unchecked'])
    expect(codes({ device: unchecked, compared: { services: fine, firewall: fine, setup: fine } })).toEqual(['well'])
    const before = { at: 400, differing: 0 }
    expect(codes({ device: unchecked, compared: { services: fine, firewall: before, setup: fine } })).toEqual(['unchecked'])
    const differs = { at: 1000, differing: 1 }
    expect(codes({ device: unchecked, compared: { services: fine, firewall: differs, setup: fine } })).toEqual(['differs'])
  })
  it('is a setup that differs until it was read as it should be', () => {
    const drift = { firstSeenAt: new Date(500).toISOString(), hash: 'h', resources: [{}, {}] as never }
    const found = (setup?: Known['compared']) =>
      findingsOf({ device: { ...device, setupDrift: drift }, services: [service], compared: setup, now }).map((f) => [f.code, f.count])
    expect(found()).toEqual([['setup', 2]])
    expect(found({ setup: { at: 400, differing: 0 } })).toEqual([['setup', 2]])
    expect(found({ setup: { at: 1000, differing: 1 } })).toEqual([['setup', 1]])
    expect(found({ setup: fine })).toEqual([['well', 0]])
  })
  it('is a missing service only when nothing else is', () => {
    expect(codes({ services: [] })).toEqual(['noService'])
    expect(codes({ services: [], refusals: [refusal('unproven', 1)] })).toEqual(['unproven'])
  })
})

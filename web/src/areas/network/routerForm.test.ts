import { describe, expect, it } from 'vitest'
import { corrected, newSecret, noRouter, registered } from './routerForm'

describe('the form of a router', () => {
  it('leaves out what the platform gives by itself', () => {
    expect(registered({ ...noRouter, name: ' tower ', ipAddress: '192.0.2.1 ', radiusSecret: 's' })).toEqual({
      name: 'tower', ipAddress: '192.0.2.1', radiusSecret: 's',
    })
  })
  it('changes only what was changed, and no secret that was not typed', () => {
    const before = { ...noRouter, name: 'tower', ipAddress: '192.0.2.1', apiPort: 80, managementAddress: '10.0.0.1' }
    expect(corrected(before, { ...before, name: 'tower ' })).toEqual({})
    expect(corrected(before, { ...before, apiPort: 443, managementAddress: '', radiusSecret: 'x y' })).toEqual({
      apiPort: 443, managementAddress: null, radiusSecret: 'x y',
    })
    expect(corrected(before, { ...before, upstreamId: 'd' })).toEqual({ upstreamId: 'd' })
    expect(corrected({ ...before, upstreamId: 'd' }, before)).toEqual({ upstreamId: null })
  })
  it('makes secrets that the API takes, each another', () => {
    expect(newSecret()).toMatch(/^[A-Za-z2-9]{32}$/)
    expect(newSecret()).not.toBe(newSecret())
  })
})

import { describe, expect, it } from 'vitest'
import { changed, noService, requested } from './serviceForm'

const present = {
  ...noService, parentInterface: 'ether4', subnet: '10.50.0.0/24', gateway: '10.50.0.1', poolStart: '10.50.0.2', poolEnd: '10.50.0.254',
}

describe('the form of a service', () => {
  it('leaves addresses to the platform', () => {
    expect(requested({ ...noService, parentInterface: 'ether4' })).toEqual({ type: 'pppoe', parentInterface: 'ether4' })
  })
  it('reads lists line by line, and gives none to a management network', () => {
    const typed = { ...noService, type: 'hotspot' as const, parentInterface: 'ether4', vlanId: 20, domains: ' a.example\n*.b.example, ', addresses: '' }
    expect(requested(typed)).toEqual({
      type: 'hotspot', parentInterface: 'ether4', vlanId: 20, walledGarden: { domains: ['a.example', '*.b.example'], addresses: [] },
    })
    expect(requested({ ...typed, type: 'cpe-management' })).not.toHaveProperty('walledGarden')
  })
  it('changes nothing that was not changed', () => {
    expect(changed(present, { ...present, domains: '\n' })).toEqual({})
    expect(changed({ ...present, vlanId: 20 }, present)).toEqual({ vlanId: null })
  })
  it('lets another subnet get its own gateway and pool, unless they were typed', () => {
    expect(changed(present, { ...present, subnet: '10.50.9.0/24' })).toEqual({
      subnet: '10.50.9.0/24', gateway: null, poolStart: null, poolEnd: null,
    })
    expect(changed(present, { ...present, subnet: '10.50.9.0/24', gateway: '10.50.9.254' }).gateway).toBe('10.50.9.254')
  })
})

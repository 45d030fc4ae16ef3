import { expect, test } from 'vitest'
import { nameOf, noPlace, placeOf, sentPlace } from './place'

const none = { deviceId: null, deviceName: null, service: null, tag: null }

const t = {
  serviceOn: (type: string, parent: string, device: string) => `${type} on ${parent}, ${device}`,
  areaOf: (tag: string) => `Area ${tag}`,
  unknownPlace: 'A place that was removed',
}

test('a place is named by what it is', () => {
  expect(placeOf({ ...none, deviceId: 'd', deviceName: 'tower' }, t)).toBe('tower')
  expect(placeOf({ ...none, deviceId: 'd' }, t)).toBe('d')
  const service = { type: 'pppoe', parentInterface: 'ether4', deviceId: 'd', deviceName: 'tower' }
  expect(placeOf({ ...none, service }, t)).toBe('pppoe on ether4, tower')
  expect(placeOf({ ...none, tag: 'hill' }, t)).toBe('Area hill')
  expect(placeOf(none, t)).toBe('A place that was removed')
  expect(nameOf({ ...none, tag: 'hill', title: 'Mast' }, t)).toBe('Mast')
})

test('only the chosen kind of place is sent', () => {
  const typed = { ...noPlace, deviceId: 'd', serviceId: 's', tag: ' hill ' }
  expect(sentPlace({ ...typed, kind: 'device' })).toEqual({ deviceId: 'd' })
  expect(sentPlace({ ...typed, kind: 'service' })).toEqual({ serviceId: 's' })
  expect(sentPlace({ ...typed, kind: 'tag' })).toEqual({ tag: 'hill' })
  expect(sentPlace({ ...noPlace, kind: 'tag', tag: '  ' })).toBeNull()
  expect(sentPlace(noPlace)).toBeNull()
})

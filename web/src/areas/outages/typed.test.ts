import { expect, test } from 'vitest'
import { noPlace } from './place'
import { noCompensation, previewed } from './typed'

const zone = 'Africa/Nairobi'
const outage = { ...noCompensation, outageId: 'o', reason: ' The mast had no power. ' }

test('an outage names place and time', () => {
  expect(previewed(outage, zone)).toEqual({ outageId: 'o', give: { proportional: true }, reason: 'The mast had no power.' })
  expect(previewed({ ...outage, from: '2026-11-22T14:05' }, zone)).toMatchObject({ from: '2026-11-22T11:05:00.000Z' })
})

test('a place needs its time, whatever outage was chosen before', () => {
  const place = { ...outage, byPlace: true, place: { ...noPlace, deviceId: 'd' } }
  expect(previewed(place, zone)).toBeNull()
  expect(previewed({ ...place, from: '2026-11-22T14:05', to: '2026-11-22T15:05' }, zone)).toEqual({
    deviceId: 'd', from: '2026-11-22T11:05:00.000Z', to: '2026-11-22T12:05:00.000Z', give: { proportional: true },
    reason: 'The mast had no power.',
  })
})

test('nothing is sent before something is chosen for each question', () => {
  expect(previewed({ ...outage, reason: ' ' }, zone)).toBeNull()
  expect(previewed({ ...outage, outageId: null }, zone)).toBeNull()
  expect(previewed({ ...outage, give: 'days', days: '' }, zone)).toBeNull()
  expect(previewed({ ...outage, give: 'money' }, zone)).toBeNull()
  expect(previewed({ ...outage, give: 'days', days: 2 }, zone)).toMatchObject({ give: { days: 2 } })
  expect(previewed({ ...outage, give: 'money', amount: 99.5 }, zone)).toMatchObject({ give: { money: 99.5 } })
})

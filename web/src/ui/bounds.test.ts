import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faultOf, figureOf } from './bounds'

const src = join(__dirname, '..')

test('a number that is out of its bounds, or not whole, is a fault and stays as it was typed', () => {
  const vouchers = { min: 1, max: 5000, whole: true }
  const judged = [1, 5000, 7000, 0, -3, '2.7', '2.', '2.0', '007', '-', ''].map((typed) => faultOf(typed, vouchers))
  expect(judged).toEqual([null, null, 'max', 'min', 'min', 'whole', null, null, null, 'number', null])
  expect(faultOf(2.7, { min: 0 })).toBeNull()
  expect(['2.', '007', 7000, '-', ''].map((typed) => figureOf(typed))).toEqual([2, 7, 7000, '', ''])
})

test('every field of numbers is a NumberField, which puts no other number in the place of what was typed', () => {
  const own = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx') && readFileSync(join(src, file), 'utf8').match(/<NumberInput|type="number"/))
  expect(own).toEqual([])
})

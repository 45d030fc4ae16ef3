import { expect, test } from 'vitest'
import { exampleOf, rateOf } from './tax'

const vat = { name: 'VAT', rate: '16', compound: false }
const levy = { name: 'Levy', rate: '1.5', compound: false }

test('a typed rate is a percentage with two decimals at most', () => {
  expect(['16', ' 7,5 ', '0', '100'].map(rateOf)).toEqual([16, 7.5, 0, 100])
  expect(['', '-1', '100.01', '1.234', 'VAT', '1e1'].map(rateOf)).toEqual([null, null, null, null, null, null])
})

test('the example counts the tax inside of the price, or on top of it', () => {
  expect(exampleOf(1000, 'inclusive', [vat])).toEqual({ pays: 1000, tax: 137.93 })
  expect(exampleOf(1000, 'exclusive', [vat])).toEqual({ pays: 1160, tax: 160 })
  expect(exampleOf(1000, 'exclusive', [])).toEqual({ pays: 1000, tax: 0 })
})

test('a compound tax is counted on top of the taxes before it', () => {
  expect(exampleOf(1000, 'exclusive', [vat, levy]).tax).toBe(175)
  expect(exampleOf(1000, 'exclusive', [vat, { ...levy, compound: true }]).tax).toBe(177.4)
})

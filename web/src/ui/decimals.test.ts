import { expect, test } from 'vitest'
import { faultOf } from './bounds'
import { commaOrPoint, grouping, type Marks, readFigure } from './decimals'

const amount: Marks = { decimals: 2, unit: ' KES' }
const speed: Marks = { decimals: 3, comma: commaOrPoint.includes(','), unit: ' Mbps' }
const count: Marks = { whole: true }

/** said is the number, or what the field tells to type instead. */
const said = (typed: string, marks: Marks) => {
  const read = readFigure(typed, marks)
  return read.figure === null ? read.meant : read.figure
}

test.each<[typed: string, means: number | '' | string[]]>([
  ['', ''],
  ['   ', ''],
  ['1500', 1500],
  ['1500.50', 1500.5],
  ['.5', 0.5],
  ['2.', 2],
  ['007', 7],
  // Thousands as the field itself writes them, and as many people do.
  ['1,500', 1500],
  ['1,500.50', 1500.5],
  ['1,234,567', 1234567],
  ['1 500', 1500],
  ['1\u00a0500.50', 1500.5],
  ['1\u202f234\u2009567', 1234567],
  [' 1500 ', 1500],
  // A comma before cents was another amount, a hundred times as large.
  ['1500,50', ['1500.50']],
  ['1,50', ['1.50']],
  ['0,500', ['0.500']],
  ['1.500,50', ['1500.50']],
  ['1.234.567,89', ['1234567.89']],
  ['1.500.000', ['1500000']],
  ['1,50,000', ['150000']],
  ['1,500,50', []],
  ['1 500 50', []],
  ['1.000.00', []],
  ['1500,', ['1500']],
  ["1'500.50", ['1500.50']],
  ['15 00', ['1500']],
  ['1.500', ['1500', '1.5']],
  ['2.000', ['2000', '2']],
  ['1e3', ['1000']],
  ['1.5E3', ['1500']],
  ['1e99', []],
  ['-5', -5],
  ['−5', -5],
  ['-1,500', -1500],
  ['--5', []],
  ['-', []],
  ['.', []],
  ['5-', []],
  ['+5', []],
  ['abc', []],
  ['12a', []],
  ['0x10', []],
  ['NaN', []],
  ['Infinity', []],
  ['1,2.3,4', []],
  // Digits of other scripts are digits.
  ['١٥٠٠', 1500],
  ['١٬٥٠٠٫٥٠', 1500.5],
  ['۱۵۰۰', 1500],
  ['१५००', 1500],
  ['১৫০০', 1500],
  ['１５００．５０', 1500.5],
  ['１，５００', 1500],
  ['½', []],
  ['10²', []],
  // What is copied from a page brings its unit and the marks around it.
  ['1,500 KES', 1500],
  ['KES 1,500.50', 1500.5],
  ['\u2068KES\u00a01,500\u2069', 1500],
  ['KES', ''],
])('in an amount %o means %o', (typed, means) => {
  expect(said(typed, amount)).toEqual(means)
})

test.each<[typed: string, means: number | string[]]>([
  ['2,5', 2.5],
  ['2.5', 2.5],
  [',5', 0.5],
  ['0,500', 0.5],
  ['1.500', 1.5],
  // Three digits behind a comma are thousands or decimals: whoever typed them says it.
  ['1,500', ['1500', '1.500']],
  ['1,500,000', 1500000],
  ['1,500.5', 1500.5],
  ['1 500', 1500],
  ['1.500,5', ['1500.5']],
  ['10 Mbps', 10],
  ['10mbps', 10],
])('in a speed %o means %o', (typed, means) => {
  expect(said(typed, speed)).toEqual(means)
})

test.each<[typed: string, means: number | string[]]>([
  ['1,000', 1000],
  ['1.000', ['1000']],
  ['2.0', 2],
  ['1,5', ['1.5']],
])('in a number of pieces %o means %o', (typed, means) => {
  expect(said(typed, count)).toEqual(means)
})

test('what is no number, or not exact any more, is a fault and no other number', () => {
  const judged = (typed: string, marks = amount) => faultOf(typed, { min: 0 }, marks)
  expect(['1500,50', '1e3', 'abc', '-5', '', '1.505', '1.5055', '1500.5'].map((typed) => judged(typed)))
    .toEqual(['marks', 'marks', 'number', 'min', null, 'marks', 'decimals', null])
  expect(['9'.repeat(15), '9'.repeat(16), '9'.repeat(400), `-${'9'.repeat(400)}`].map((typed) => judged(typed)))
    .toEqual([null, 'max', 'max', 'min'])
  expect(faultOf(`-${'9'.repeat(16)}`, {}, amount)).toBe('min')
  expect(judged('2,5', speed)).toBeNull()
  expect(judged('2,5555', speed)).toBe('decimals')
  expect(judged('1,500,000', speed)).toBeNull()
  expect(['3,5', '1.000'].map((typed) => faultOf(typed, { whole: true }, count))).toEqual(['whole', 'marks'])
})

test('a number is shown so that it is read as the same again', () => {
  const shown = [0, 7, 1500, 1234567.5, -1500, 0.1 + 0.2].map((n) => grouping(n, { decimals: 2, thousands: true }))
  expect(shown).toEqual(['0', '7', '1,500', '1,234,567.5', '-1,500', '0.3'])
  expect(shown.map((text) => readFigure(text, amount))).toEqual([0, 7, 1500, 1234567.5, -1500, 0.3].map((figure) => ({ figure })))
  expect([grouping(1500.5, { decimals: 2, typed: 2, thousands: true }), grouping(2, { typed: 1 })]).toEqual(['1,500.50', '2.0'])
  expect(grouping(1500.125, {})).toBe('1500.125')
})

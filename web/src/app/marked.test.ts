import { expect, test } from 'vitest'
import { marked } from './marked'

const hits = (text: string, typed: string) => marked(text, typed).filter((p) => p.hit).map((p) => p.text)

test('each typed word marks the beginnings of words, whatever their case and accents', () => {
  expect(hits('Mary Wanjiku Njoroge', 'nJo mary')).toEqual(['Mary', 'Njo'])
  expect(hits('José Muñoz', 'jose mun')).toEqual(['José', 'Muñ'])
  expect(hits('Baobab Court', 'ob')).toEqual([])
})

test('a number is marked whatever stands between its digits', () => {
  expect(hits('A-0012 · +254 712 345678', '0712345')).toEqual(['712 345'])
  expect(hits('+254700000008', '0008')).toEqual(['0008'])
  expect(hits('AA:BB:CC:00:11:22', 'bbcc00')).toEqual(['BB:CC:00'])
})

test('the pieces together are the text', () => {
  for (const text of ['', 'Hibiscus 🌺 House', '<b>x</b>', 'شركة النخلة']) {
    expect(marked(text, 'h x 12').map((p) => p.text).join('')).toBe(text)
  }
})

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makesOld } from './changes'

interface Description {
  paths: Record<string, { get?: object }>
  components: { schemas: Record<string, { properties?: Record<string, { enum?: string[] }> }> }
}
const api = JSON.parse(readFileSync(new URL('./openapi.json', import.meta.url), 'utf8')) as Description

test('each topic of the stream makes a read old', () => {
  const topics = Object.values(api.components.schemas).flatMap((s) => s.properties?.topic?.enum ?? [])
  expect(topics.length).toBeGreaterThan(15)
  const reads = Object.keys(api.paths).filter((path) => api.paths[path]?.get)
  for (const topic of topics) {
    expect(reads.filter((path) => makesOld([{ topic, id: null, type: '', at: '' }], path, [])), topic).not.toEqual([])
  }
})

test('who reads where customers pay to hears of another gateway', () => {
  const change = { topic: 'payment-gateway', id: null, type: 'payments.GatewayChanged', at: '' }
  expect(makesOld([change], '/paybill', [])).toBe(true)
  expect(makesOld([change], '/settings/payment-gateway', [])).toBe(true)
})

test('a report about days that are over is not read again at each payment', () => {
  const change = { topic: 'receipts', id: null, type: 'payments.ReceiptMatched', at: '' }
  for (const path of ['/reports/today', '/reports/ageing']) expect(makesOld([change], path, []), path).toBe(true)
  for (const path of ['/reports/revenue', '/reports/settlement/receipts']) expect(makesOld([change], path, []), path).toBe(false)
  expect(makesOld([{ ...change, topic: 'reset' }], '/reports/revenue', [])).toBe(true)
})

import { expect, test } from 'vitest'
import { aboutOf } from './message'

const about = (type: string, data: object) => {
  const found = aboutOf(type, { type, data })
  return found && [found.kind, found.way.to, found.name]
}

test('a message leads to the page of what it is about', () => {
  expect(about('payment.succeeded', { paymentId: 'p1', subscriberId: 's1', gateway: 'mobile_money_stk' })).toEqual(['payment', '/payments/p1', undefined])
  expect(about('payment.succeeded', { paymentId: 'r1', subscriberId: 's1', gateway: 'cash' })).toEqual(['receipt', '/receipts/r1', undefined])
  expect(about('invoice.created', { invoiceId: 'i1', number: 'ACME-1', subscriberId: 's1' })).toEqual(['invoice', '/invoices/i1', 'ACME-1'])
  expect(about('dunning.walled_garden', { subscriptionId: 'x', subscriberId: 's1' })).toEqual(['customer', '/customers/s1', undefined])
  expect(about('nas.service.drift_detected', { serviceId: 'n1', deviceId: 'd1' })).toEqual(['service', '/services/n1', undefined])
  expect(about('nas.device.setup_drift_detected', { deviceId: 'd1' })).toEqual(['router', '/routers/d1', undefined])
})

test('a trial and what is not known lead nowhere', () => {
  expect(about('webhook.ping', { endpointId: 'e1' })).toBeNull()
  expect(aboutOf('cpe.claimed', null)).toBeNull()
  expect(about('payment.failed', { paymentId: 7 })).toBeNull()
})

import { expect, test } from 'vitest'
import { isElsewhere } from './navigation'

test('the root host has the pages of the platform, and organizations have all others', () => {
  for (const path of ['/', '/orgs', '/orgs/1', '/suspense', '/pending-devices', '/settlement', '/failed-callbacks', '/bill-manager', '/audit', '/system']) expect(isElsewhere(path, true), path).toBe(false)
  for (const path of ['/receipts/1', '/payments', '/bills', '/customers', '/services/1', '/changes', '/devices/1']) {
    expect(isElsewhere(path, true), path).toBe(true)
    expect(isElsewhere(path, false), path).toBe(false)
  }
  for (const path of ['/orgs/1', '/failed-callbacks', '/bill-manager']) expect(isElsewhere(path, false), path).toBe(true)
  for (const platform of [true, false]) expect(isElsewhere('/account', platform)).toBe(false)
})

import { expect, test } from 'vitest'
import { rootOf } from './rootOf'

const org = { id: '5d8e9791-8a11-58b7-b493-4a23c744bac9', slug: 'demo', name: 'Demo Networks' }
const at = { protocol: 'https:', host: 'demo.isp.example:8443' }

test('an operator of the platform who visits an organization signs in at the platform, everybody else here', () => {
  expect(rootOf({ role: 'super_admin', org }, at)).toBe('https://isp.example:8443/app/')
  expect(rootOf({ role: 'super_admin', org: null }, at)).toBeNull()
  expect(rootOf({ role: 'admin', org }, at)).toBeNull()
})

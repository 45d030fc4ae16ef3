import { expect } from 'vitest'
import { button, confirms, told } from './hands'
import { at, call, expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, type Row, signIn, unpaid, visit } from './kit'

/** colleague is a second administrator, in a window of their own. */
async function colleague(email: string) {
  const { page, context } = await visit()
  await page.route(`${at.isp}/app/`, (empty) => empty.fulfill({ contentType: 'text/html', body: '' }), { times: 1 })
  await page.goto(`${at.isp}/app/`)
  for (const [path, body] of [
    ['/auth/login', { email, password: 'temporary-word-9' }],
    ['/auth/password', { currentPassword: 'temporary-word-9', newPassword: 'my-own-long-word' }],
    ['/auth/login', { email, password: 'my-own-long-word' }],
  ] as const) expect((await call(page, 'POST', path, body)).status, path).toBe(200)
  return { page, context }
}

flow('above the limit a void waits for a colleague, who agrees on a page of their own', async ({ page }) => {
  const email = `second-${Date.now()}@demo.lastmile.localhost`
  await signIn(page, 'admin', '/organization')
  const made = await call(page, 'POST', '/users', { email, firstName: 'Zuhura', lastName: 'Pili', role: 'admin', temporaryPassword: 'temporary-word-9' })
  expect(made.status).toBe(201)
  await page.getByLabel(/give away/).fill('100')
  await page.locator('form').filter({ has: page.getByLabel(/give away/) }).getByRole('button', { name: 'Save the limit' }).click()
  await expect.poll(async () => (await call<{ limit: number }>(page, 'GET', '/settings/approvals')).body.limit).toBe(100)
  await expectNoViolations(page, 'the limit')

  const customer = await unpaid(page, 'Mpole')
  const invoice = await firstOf(page, `/invoices?subscriberId=${customer.id}&state=issued`)
  await goTo(page, 'admin', `/invoices/${invoice.id}`)
  await button(page, 'Void').click()
  await confirms(page, 'Void', 'ordered twice')
  await told(page, 'Not done yet: it waits under Approvals for a second person.')
  const open = async () => (await call<Row>(page, 'GET', `/invoices/${invoice.id}`)).body.state
  expect(await open()).toBe('issued')
  await goTo(page, 'admin', '/approvals')
  await page.getByRole('link', { name: 'Void of an invoice' }).first().click()
  await page.getByText('You asked for this, so a colleague has to decide.').waitFor()
  expect(await button(page, 'Approve').count()).toBe(0)
  await expectNoViolations(page, 'an approval of the own')

  const other = await colleague(email)
  await goTo(other.page, 'admin', '/approvals')
  await expectNoViolations(other.page, 'the approvals')
  await other.page.getByRole('link', { name: 'Void of an invoice' }).first().click()
  await other.page.getByText('ordered twice').waitFor()
  await button(other.page, 'Approve').click()
  await confirms(other.page, 'Approve')
  await told(other.page, 'Approved.')
  await other.page.getByRole('status').filter({ hasText: 'Done' }).first().waitFor()
  expect(await open()).toBe('voided')
  await goTo(other.page, 'admin', '/corrections')
  await other.page.getByRole('row').filter({ hasText: 'Void of an invoice' }).first().waitFor()
  await expectNoViolations(other.page, 'the report of corrections')

  // To remove the limit needs both, too.
  const asked = await call<{ approvalId: string }>(page, 'PUT', '/settings/approvals', { limit: null })
  expect(asked.status).toBe(202)
  expect((await call(page, 'POST', `/approvals/${asked.body.approvalId}/approve`)).status).toBe(403)
  expect((await call(other.page, 'POST', `/approvals/${asked.body.approvalId}/approve`)).status).toBe(200)
  await expect.poll(async () => (await call<{ limit: number | null }>(page, 'GET', '/settings/approvals')).body.limit).toBeNull()
  await other.context.close()
})

flow('the approvals fit a phone', async ({ page }) => {
  await signIn(page, 'admin', '/approvals')
  await expectNoSideways(page)
  await goTo(page, 'admin', '/corrections')
  await expectNoSideways(page)
}, phone)

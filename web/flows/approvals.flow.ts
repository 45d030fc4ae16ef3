import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, confirms, dialogOf, told } from './hands'
import { at, call, expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, type Row, signIn, unpaid, visit } from './kit'

/** inOwnWindow signs somebody of the staff in, in another window. */
async function inOwnWindow(email: string, password: string) {
  const { page, context } = await visit()
  await page.route(`${at.isp}/app/`, (empty) => empty.fulfill({ contentType: 'text/html', body: '' }), { times: 1 })
  await page.goto(`${at.isp}/app/`)
  expect((await call(page, 'POST', '/auth/login', { email, password })).status).toBe(200)
  return { page, context }
}

/** seated is an administrator who was made a moment ago, in a window of their own. */
async function seated(page: Page) {
  const email = `second-${Date.now()}@demo.lastmile.localhost`
  const made = await call(page, 'POST', '/users', { email, firstName: 'Zuhura', lastName: 'Pili', role: 'admin', temporaryPassword: 'temporary-word-9' })
  expect(made.status).toBe(201)
  const first = await inOwnWindow(email, 'temporary-word-9')
  const own = await call(first.page, 'POST', '/auth/password', { currentPassword: 'temporary-word-9', newPassword: 'my-own-long-word' })
  expect(own.status).toBe(200)
  await first.context.close()
  return inOwnWindow(email, 'my-own-long-word')
}

flow('above the limit a void waits for a colleague, who agrees on a page of their own', async ({ page }) => {
  await signIn(page, 'admin', '/organization')
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

  const fresh = await seated(page)
  await goTo(fresh.page, 'admin', '/approvals')
  await fresh.page.getByRole('link', { name: 'Void of an invoice' }).first().click()
  await button(fresh.page, 'Approve').click()
  await button(dialogOf(fresh.page), 'Approve').click()
  await dialogOf(fresh.page).getByText(/You can refuse this, but not approve it yet/).waitFor()
  await fresh.context.close()

  const other = await inOwnWindow('desk@demo.lastmile.localhost', 'demo-password')
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

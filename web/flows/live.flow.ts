import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { at, call, drawn, firstOf, flow, password, people, phone, type Row, signIn, simulate } from './kit'

/** unpaid makes a customer with a plan, an invoice and a phone of a simulated network. */
async function unpaid(page: Page, name: string, behaviour: 'pay' | 'cancel'): Promise<Row & { phone: string; due: number }> {
  const phone = `2547${String(Date.now()).slice(-8)}`
  await simulate('PUT', `${at.provider}/sim/phones/${phone}`, { behaviour })
  const made = await call<Row>(page, 'POST', '/subscribers', { firstName: name, lastName: 'Nyumba', phone: `+${phone}` })
  expect(made.status).toBe(201)
  const { body: plans } = await call<{ data: Row[] }>(page, 'GET', '/plans?limit=100')
  const plan = plans.data.find((p) => p.code === 'home-10')
  const added = await call(page, 'POST', '/subscriptions', { subscriberId: made.body.id, planId: plan?.id })
  expect(added.status).toBe(201)
  await expect.poll(async () => (await call<{ data: Row[] }>(page, 'GET', `/invoices?subscriberId=${made.body.id}`)).body.data).toHaveLength(1)
  const invoice = await firstOf(page, `/invoices?subscriberId=${made.body.id}`)
  return { ...made.body, phone, due: Number(invoice.due) }
}

/** amount reads the money of today from the home page. */
async function takenToday(page: Page): Promise<number> {
  const figure = page.getByRole('link', { name: /^KES/ }).and(page.locator('a[href*="/collections"]')).first()
  return Number((await figure.innerText()).replace(/[^\d.]/g, ''))
}

flow('a customer pays, and the home page shows it without a reload', async ({ page, context }) => {
  await signIn(page, 'admin')
  const other = await context.newPage()
  await other.goto(`${at.isp}/app/customers`)
  const customer = await unpaid(other, 'Mlipaji', 'pay')
  const before = await takenToday(page)
  await page.getByRole('status', { name: 'Live' }).waitFor()
  let loads = 0
  page.on('load', () => loads++)
  const sent = await call(other, 'POST', '/payments/initiate', { subscriberId: customer.id, amount: customer.due })
  expect(sent.status).toBe(202)
  await expect.poll(() => takenToday(page), { timeout: 20_000 }).toBe(before + customer.due)
  expect(loads).toBe(0)
})

flow('a double click takes the money once', async ({ page }) => {
  await signIn(page, 'admin', '/customers')
  const customer = await unpaid(page, 'Mara Moja', 'pay')
  const writes: string[] = []
  page.on('request', (r) => r.method() === 'POST' && r.url().includes('/payments/') && writes.push(r.url()))
  await page.goto(`${at.isp}/app/customers/${customer.id}`)
  await page.getByRole('heading', { level: 1, name: /Mara Moja/ }).waitFor()
  await page.keyboard.press('p')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Send the prompt' }).dblclick()
  await dialog.getByText(/Paid/).waitFor()
  expect(writes.filter((url) => url.endsWith('/payments/initiate'))).toHaveLength(1)
  const { body } = await call<{ data: Row[] }>(page, 'GET', `/payments?subscriberId=${customer.id}`)
  expect(body.data).toHaveLength(1)
})

flow('the first walk needs no mouse', async ({ page }) => {
  await page.goto(`${at.isp}/app/`)
  await page.getByLabel('E-mail address').waitFor()
  await page.keyboard.type(people.admin.email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Menu' }).waitFor()
  await drawn(page)
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content')
  await walk(page)
})

flow('the first walk fits a phone', async ({ page }) => {
  await signIn(page, 'admin')
  await walk(page)
}, phone)

/** walk does what README's first walk does: the customer who never paid pays, and a router that was changed is repaired. */
async function walk(page: Page) {
  const name = `Mwanzo${Date.now()}`
  await unpaid(page, name, 'pay')
  await page.keyboard.press('/')
  await page.locator('[role=combobox]:focus').waitFor()
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: new RegExp(name) }).waitFor()
  await drawn(page)
  await page.keyboard.press('p')
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await dialog.getByText(/is due now/).waitFor()
  await page.keyboard.press('Enter') // in the field of the amount
  await dialog.getByText(/Paid/).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: /^KES/ }).first().waitFor()
}

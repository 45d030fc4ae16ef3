import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, dialogOf, field, told, writesOf } from './hands'
import { at, call, drawn, expectNoViolations, flow, goTo, people, type Row, signIn, simulate, unpaid } from './kit'

// Organizations as the platform sees them, and one that has just begun.

interface Made {
  name: string
  slug: string
  email: string
  secret: string
}

/** makes creates an organization as the platform's administrator, who is signed in on the page. */
async function makes(page: Page, name: string, currency = 'KES'): Promise<Made & Row> {
  const slug = `neu-${currency.toLowerCase()}-${Date.now()}`
  const made = { name, slug, email: `asha@${slug}.example`, secret: 'temporary-words-of-a-flow' }
  const answer = await call<Row>(page, 'POST', '/orgs', {
    name, slug, currency, timezone: 'Africa/Nairobi', country: 'KE',
    admin: { firstName: 'Asha', lastName: 'Mwangi', email: made.email, temporaryPassword: made.secret },
  })
  expect(answer.status).toBe(201)
  return { ...made, id: answer.body.id }
}

/** beginsAt signs an organization's first administrator in, who chooses a password. */
async function beginsAt(page: Page, { slug, email, secret }: Made): Promise<string> {
  const root = new URL(people.root.host)
  const host = `${root.protocol}//${slug}.${root.host}`
  await page.route(`${host}/app/`, (empty) => empty.fulfill({ contentType: 'text/html', body: '' }), { times: 1 })
  await page.goto(`${host}/app/`)
  const own = 'lasting-words-of-a-flow'
  expect((await call(page, 'POST', '/auth/login', { email, password: secret })).status).toBe(200)
  expect((await call(page, 'POST', '/auth/password', { currentPassword: secret, newPassword: own })).status).toBe(200)
  expect((await call(page, 'POST', '/auth/login', { email, password: own })).status).toBe(200)
  await page.goto(`${host}/app/`)
  await drawn(page)
  return host
}

flow('the home of a new organization has its first steps, and ticks them', async ({ page }) => {
  await signIn(page, 'root')
  const host = await beginsAt(page, await makes(page, `Mwanzo ${Date.now()}`))
  const steps = page.getByRole('list', { name: 'First steps' })
  const of = (step: string) => steps.getByRole('listitem').filter({ has: page.getByRole('link', { name: step }) })
  await of('Make a plan').getByText('Still to do').waitFor()
  expect(await steps.getByRole('link').allInnerTexts()).toEqual([
    'Make a plan', 'Set up how customers pay', 'Add a router', 'Add the first customer',
  ])
  expect(await page.getByText('Waiting for somebody').count()).toBe(0)
  await expectNoViolations(page)
  await of('Make a plan').getByRole('link').click()
  await field(page, 'Name').fill('Nyumbani 10')
  await field(page, 'Code').fill('nyumbani-10')
  await field(page, /^Price/).fill('1500')
  await field(page, 'Down').fill('10')
  await field(page, 'Up').fill('5')
  await button(page, 'Create the plan').click()
  await told(page, /was created/)
  await page.getByRole('heading', { level: 1, name: 'Nyumbani 10' }).waitFor()
  await page.getByRole('link', { name: 'Home', exact: true }).click()
  await of('Make a plan').getByText('Done').waitFor()
  await of('Add a router').getByText('Still to do').waitFor()
  // With a router and a customer there is nothing to begin with any more.
  const customer = await call(page, 'POST', '/subscribers', {
    firstName: 'Neema', lastName: 'Otieno', phone: `+2547${String(Date.now()).slice(-8)}`,
  })
  expect(customer.status).toBe(201)
  await page.goto(`${host}/app/`)
  await of('Add the first customer').getByText('Done').waitFor()
  await page.getByRole('heading', { level: 2, name: 'Customers' }).waitFor()
  const router = await call(page, 'POST', '/nas/devices', {
    name: 'mlima', ipAddress: `198.51.100.${1 + (Date.now() % 250)}`, radiusSecret: 'a-long-secret-of-the-flow-1',
  })
  expect(router.status, JSON.stringify(router.body)).toBe(201)
  await page.goto(`${host}/app/`)
  await page.getByRole('heading', { level: 2, name: 'Network' }).waitFor()
  expect(await steps.count()).toBe(0)
})

flow('support and an organization with customers see no first steps', async ({ page }) => {
  await signIn(page, 'support')
  await page.getByRole('heading', { level: 2, name: 'Customers' }).waitFor()
  expect(await page.getByRole('list', { name: 'First steps' }).count()).toBe(0)
})

flow('money is given to one of two organizations of the same name, and to none of another currency', async ({ page }) => {
  await signIn(page, 'root', '/suspense')
  const name = `Pacha ${Date.now()}`
  const one = await makes(page, name)
  const other = await makes(page, name)
  const foreign = await makes(page, name, 'UGX')
  expect((await call(page, 'POST', `/orgs/${other.id}/suspend`, { reason: 'Does not pay.' })).status).toBeLessThan(300)
  const msisdn = `2547${String(Date.now()).slice(-8)}`
  const paid = { shortCode: '600100', msisdn, amount: 321, billRefNumber: `pacha-${Date.now()}` }
  await simulate('POST', `${at.provider}/sim/paybill`, paid)
  const arrived = async () => {
    const { body } = await call<{ data: (Row & { payer: { phone: string } })[] }>(page, 'GET', '/receipts?state=suspense&limit=100')
    return body.data.find((r) => r.payer.phone.endsWith(msisdn))?.id
  }
  await expect.poll(arrived).toBeTruthy()
  await goTo(page, 'root', `/suspense?receipt=${await arrived()}`)
  await page.getByText(/ha(s|ve) another currency than KES and cannot take this money/).waitFor()
  const choice = field(page, 'Organization')
  await choice.click()
  await choice.fill(name)
  const lines = page.getByRole('option')
  await expect.poll(() => lines.count()).toBe(2)
  expect(await lines.filter({ hasText: foreign.slug }).count()).toBe(0)
  expect(await lines.filter({ hasText: one.slug }).filter({ hasText: 'suspended' }).count()).toBe(0)
  await lines.filter({ hasText: other.slug }).filter({ hasText: 'suspended' }).click()
  await button(page, 'Give to this organization').click()
  const dialog = dialogOf(page)
  await dialog.getByText(`becomes the money of ${name} (${other.slug})`, { exact: false }).waitFor()
  await dialog.getByText('suspended', { exact: true }).waitFor()
  await button(dialog, 'Cancel').click()
  await choice.click()
  await choice.fill(one.slug)
  await lines.filter({ hasText: one.slug }).click()
  await button(page, 'Give to this organization').click()
  await dialog.getByText(`becomes the money of ${name} (${one.slug})`, { exact: false }).waitFor()
  expect(await dialog.getByText('suspended', { exact: true }).count()).toBe(0)
  await button(dialog, 'Give it').click()
  await told(page, new RegExp(`321 given to ${name} \\(${one.slug}\\)`))
  await goTo(page, 'root', `/audit?orgId=${one.id}`)
  await page.getByRole('table').getByText(one.slug).first().waitFor()
  await expect.poll(() => field(page, 'Organization').inputValue()).toBe(`${name} (${one.slug})`)
})

flow('cash with a reference that was used is refused with the receipt that has it', async ({ page }) => {
  await signIn(page, 'admin')
  const customer = await unpaid(page, 'Kumbukumbu')
  const reference = `Book ${Date.now()}/1`
  const body = { subscriberId: customer.id, amount: 275, reference }
  expect((await call(page, 'POST', '/payments/cash', body)).status).toBe(201)
  const writes = writesOf(page)
  await goTo(page, 'admin', `/customers/${customer.id}`)
  await button(page, 'Take payment').first().click()
  const dialog = dialogOf(page)
  await dialog.getByText('Cash', { exact: true }).click()
  await field(dialog, /^Amount/).fill('275')
  await field(dialog, 'Reference').fill(reference)
  await button(dialog, 'Take the cash').click()
  const told = dialog.getByRole('alert')
  await told.getByText(/KES.275/).waitFor()
  await told.getByRole('link', { name: 'Kumbukumbu Nyumba' }).waitFor()
  expect(writes).toEqual(['POST /payments/cash'])
  await told.getByRole('link', { name: `Receipt ${reference}` }).click()
  await page.getByRole('heading', { level: 1, name: reference }).waitFor()
})

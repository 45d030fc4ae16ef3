// The customers' portal, as a customer with a phone walks through it.
import { readFile } from 'node:fs/promises'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, field } from './hands'
import { at, call, codeTo, expectNoSideways, expectNoViolations, flow, signIn, simulate, unpaid, visit } from './kit'

// The smallest phone that is sold, and a desk.
const windows: [string, BrowserContextOptions][] = [
  ['on a phone', { viewport: { width: 360, height: 640 }, hasTouch: true }],
  ['on a wide screen', {}],
]

interface Customer {
  id: string
  phone: string
  due: number
  accountNumber: string
}

let made = 0

/** letIn makes a customer with an open invoice whom the portal knows; staff do that in a window of their own. */
async function letIn(name: string, behaviour: 'pay' | 'cancel' = 'pay'): Promise<Customer> {
  const staff = await visit()
  try {
    await signIn(staff.page, 'admin')
    const customer = await unpaid(staff.page, `${name}${Date.now()}${made++}`, behaviour)
    const given = await call(staff.page, 'POST', `/subscribers/${customer.id}/portal-access`, {})
    expect(given.status).toBe(201)
    return customer as unknown as Customer
  } finally {
    await staff.context.close()
  }
}

/** enter signs a customer in by a code, and gives the code. */
async function enter(page: Page, phone: string, from = `${at.isp}/portal/`): Promise<string> {
  await page.goto(from)
  await field(page, 'E-mail address or phone').fill(`+${phone}`)
  await button(page, 'Send me a code').click()
  const code = await codeTo(page, `+${phone}`)
  await page.getByLabel('Code', { exact: true }).fill(code)
  await button(page, 'Sign in').click()
  return code
}

/** codeAfter waits for a code to an address that is newer than another one. */
async function codeAfter(page: Page, address: string, other: string): Promise<string> {
  let code = other
  await expect.poll(async () => (code = await codeTo(page, address))).not.toBe(other)
  return code
}

const home = (page: Page) => page.getByRole('heading', { level: 1, name: /^(Hello|Habari), / }).waitFor()
const place = (page: Page, name: string) => page.getByRole('navigation', { name: /^(Menu|Menyu)$/ }).getByRole('link', { name })

for (const [where, window] of windows) {
  flow(`a customer signs in by a code and pays in three taps ${where}`, async ({ page }) => {
    const customer = await letIn('Lipa')
    await enter(page, customer.phone)
    await home(page)
    await page.getByText(/Not started yet: invoice DEMO-\d+ of KES\s1,500 is to be paid first\./).waitFor()
    await expectNoViolations(page)
    await expectNoSideways(page)
    let asked = 0
    page.on('request', (r) => {
      if (r.url().endsWith('/payments/initiate')) asked++
    })
    await page.getByRole('link', { name: 'Pay KES 1,500' }).click()
    await page.getByText(`The PIN is asked for on +${customer.phone}.`).waitFor()
    await expectNoViolations(page, 'the form')
    await expectNoSideways(page, 'the form')
    await button(page, 'Pay KES 1,500').dblclick()
    await page.getByText('Paid: KES 1,500. Thank you.').waitFor()
    await page.getByText(/Paid until .*\d\d:\d\d\./).waitFor()
    expect(asked, 'prompts of a double tap').toBe(1)
    await expectNoViolations(page, 'paid')
    await page.getByRole('link', { name: 'Done' }).click()
    await home(page)
    await page.getByText(/Paid until /).first().waitFor()
    await page.getByRole('link', { name: 'Pay', exact: true }).waitFor()

    await place(page, 'Invoices').click()
    await page.getByText('Nothing is to be paid.').waitFor()
    const [invoice] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /^Invoice .* as PDF$/ }).click()])
    expect(invoice.suggestedFilename()).toMatch(/\.pdf$/)
    await page.getByRole('link', { name: 'Receipts' }).click()
    const [receipt] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /^Receipt .* as PDF$/ }).click()])
    expect(receipt.suggestedFilename()).toMatch(/\.pdf$/)
    await expectNoViolations(page, 'receipts')
    await page.getByRole('link', { name: 'Statement' }).click()
    await page.getByText('Charged KES 1,500', { exact: true }).waitFor()
    await button(page, 'Statement as PDF').waitFor()
    await expectNoViolations(page, 'statement')
    await expectNoSideways(page, 'statement')
    await place(page, 'Usage').click()
    await page.getByText('No device is online.').waitFor()
    await page.getByRole('link', { name: 'Last 12 months' }).click()
    await page.getByText('No traffic in this time').waitFor()
    await expectNoViolations(page, 'usage')
    await place(page, 'Profile').click()
    await page.getByText('This device').waitFor()
    const [data] = await Promise.all([page.waitForEvent('download'), button(page, 'Download my data').click()])
    expect(JSON.parse(await readFile(await data.path(), 'utf8'))).toMatchObject({ subscriberId: customer.id, accountNumber: customer.accountNumber })
    await page.getByText('Saved among your downloads.').waitFor()
    await expectNoViolations(page, 'profile')
    await expectNoSideways(page, 'profile')
  }, window)
}

flow('a payment that is cancelled on the phone says so, and is tried again', async ({ page }) => {
  const customer = await letIn('Ghairi', 'cancel')
  await enter(page, customer.phone)
  await home(page)
  await page.getByRole('link', { name: 'Pay KES 1,500' }).click()
  await button(page, 'Pay KES 1,500').click()
  await page.getByText('The payment was cancelled on the phone.').waitFor()
  await page.getByText('No money has left your phone.').waitFor()
  await expectNoViolations(page, 'refused')
  await simulate('PUT', `${at.provider}/sim/phones/${customer.phone}`, { behaviour: 'pay' })
  await button(page, 'Try again').click()
  await button(page, 'Pay KES 1,500').click()
  await page.getByText('Paid: KES 1,500. Thank you.').waitFor()
})

flow('a payment goes on while its page is left, and is not begun twice', async ({ page }) => {
  const customer = await letIn('Subiri')
  await simulate('PUT', `${at.provider}/sim/phones/${customer.phone}`, { behaviour: 'no_answer' })
  await enter(page, customer.phone)
  await home(page)
  await page.getByRole('link', { name: 'Pay KES 1,500' }).click()
  await button(page, 'Pay KES 1,500').click()
  await page.getByText('Type your PIN on the phone to pay KES 1,500.').waitFor()
  await expectNoViolations(page, 'waiting')
  await page.reload()
  await page.getByText('Type your PIN on the phone to pay KES 1,500.').waitFor()
  await place(page, 'Home').click()
  await page.getByRole('link', { name: 'Pay KES 1,500' }).click()
  await page.getByText('Type your PIN on the phone to pay KES 1,500.').waitFor()
  expect(await button(page, 'Pay KES 1,500').count()).toBe(0)
})

flow('the portal speaks Swahili, in the dark, on the narrowest phone', async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem('lastmile.language', 'sw'))
  const customer = await letIn('Usiku')
  await page.goto(`${at.isp}/portal/`)
  await field(page, 'Barua pepe au simu').fill(`+${customer.phone}`)
  await expectNoViolations(page, 'sign-in')
  await button(page, 'Nitumie msimbo').click()
  await page.getByLabel('Msimbo', { exact: true }).fill(await codeTo(page, `+${customer.phone}`))
  await button(page, 'Ingia').click()
  await home(page)
  await page.getByText(/Bado haijaanza: ankara DEMO-\d+ ya .* inapaswa kulipwa kwanza\./).waitFor()
  for (const [name, title] of [['Mwanzo', /^Habari/], ['Ankara', 'Ankara'], ['Matumizi', 'Matumizi'], ['Wasifu', 'Wasifu']] as const) {
    await place(page, name).click()
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await expectNoViolations(page, name)
    await expectNoSideways(page, name)
  }
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(22, 25, 28)')
  await page.getByLabel('Lugha', { exact: true }).selectOption('English')
  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor()
  await page.getByLabel('Colours').selectOption('Light')
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(244, 246, 247)')
}, { viewport: { width: 320, height: 568 }, colorScheme: 'dark', hasTouch: true })

flow('customers and staff are each led to their own pages', async ({ page, context }) => {
  const customer = await letIn('Njia')
  await enter(page, customer.phone)
  await home(page)
  await page.goto(`${at.isp}/app/customers`)
  await page.waitForURL(`${at.isp}/portal/`)
  await home(page)
  await context.clearCookies()
  await signIn(page, 'support')
  await page.goto(`${at.isp}/portal/usage`)
  await page.waitForURL(`${at.isp}/app/`)
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Customers' }).waitFor()
})

flow('at the address of the platform a code leads to the own provider', async ({ page }) => {
  const customer = await letIn('Mlango')
  await enter(page, customer.phone, `${at.root}/portal/`)
  await page.getByRole('heading', { name: 'Where do you want to go?' }).waitFor()
  await expectNoViolations(page)
  await page.getByRole('main').getByRole('link').click()
  await home(page)
  expect(page.url()).toBe(`${at.isp}/portal/`)
})

flow('whoever sees several accounts chooses one, and every page is about it', async ({ page }) => {
  const [first, second] = [await letIn('Nyumba'), await letIn('Duka')]
  const staff = await visit()
  await signIn(staff.page, 'admin')
  expect((await call(staff.page, 'POST', `/subscribers/${second.id}/portal-access`, { phone: `+${first.phone}` })).status).toBe(201)
  await staff.context.close()
  await enter(page, first.phone)
  await home(page)
  await page.getByLabel('Account', { exact: true }).selectOption({ value: second.id })
  await page.getByText(second.accountNumber, { exact: true }).waitFor()
  await expectNoViolations(page)
  await page.getByRole('link', { name: 'Pay KES 1,500' }).click()
  // The own phone and the contact of the account may be asked, and no other one.
  const phones = page.getByLabel('Phone that is asked for the PIN')
  await phones.waitFor()
  expect(await phones.locator('option').allTextContents()).toEqual([`+${second.phone}`, `+${first.phone}`])
  await page.getByText('Pay by hand').waitFor()
  await button(page, 'Pay KES 1,500').click()
  await page.getByText('Paid: KES 1,500. Thank you.').waitFor()
  await place(page, 'Invoices').click()
  await page.getByText('Nothing is to be paid.').waitFor()
  await page.getByLabel('Account', { exact: true }).selectOption({ value: first.id })
  await page.getByText('Open', { exact: true }).waitFor()
})

flow('a customer chooses how to be written to, and changes the phone of the sign-in by two codes', async ({ page }) => {
  const customer = await letIn('Ujumbe')
  const next = `2547${String(Date.now() + 7).slice(-8)}`
  const signedInBy = await enter(page, customer.phone)
  await home(page)
  await place(page, 'Profile').click()
  await page.getByLabel('Language of messages').selectOption('Kiswahili')
  await page.getByText('Saved.').waitFor()
  await page.getByLabel('Only what is needed').check()
  await expect.poll(async () => (await call<{ onlyNeeded: boolean; language: string }>(page, 'GET', `/subscribers/${customer.id}`)).body)
    .toMatchObject({ language: 'sw', onlyNeeded: true })
  await button(page, 'Change the phone').click()
  await field(page, 'New phone').fill(`+${next}`)
  await button(page, 'Send the codes').click()
  await page.getByText('They are valid for 5 minutes.').waitFor()
  await expectNoViolations(page)
  await field(page, 'Code from the present address').fill(await codeAfter(page, `+${customer.phone}`, signedInBy))
  await field(page, 'Code from the new address').fill(await codeTo(page, `+${next}`))
  await button(page, 'Change').click()
  await page.getByText('The address is changed.').waitFor()
  await page.getByText(`+${next}`).waitFor()
})

flow('a session that is ended elsewhere asks for a code, and shows nothing of the customer meanwhile', async ({ page, context }) => {
  const customer = await letIn('Kikao')
  const signedInBy = await enter(page, customer.phone)
  await home(page)
  await context.clearCookies()
  await place(page, 'Invoices').click()
  await page.getByText('You are signed out. Sign in to go on.').waitFor()
  expect(await page.getByText('Kikao').count()).toBe(0)
  await field(page, 'E-mail address or phone').fill(`+${customer.phone}`)
  await button(page, 'Send me a code').click()
  await page.getByLabel('Code', { exact: true }).fill(await codeAfter(page, `+${customer.phone}`, signedInBy))
  await button(page, 'Sign in').click()
  await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor()
})

flow('the portal opens without a network and says so, keeps nothing of the customer, and takes a new version', async ({ page, context }) => {
  const customer = await letIn('Mbali')
  await enter(page, customer.phone)
  await home(page)
  const name = (await page.getByRole('heading', { level: 1 }).textContent()) ?? ''
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true)
  const manifest = await page.evaluate(async () => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=manifest]')
    return (await (await fetch(link?.href ?? '')).json()) as { name: string; start_url: string; icons: { src: string }[] }
  })
  expect(manifest).toMatchObject({ name: 'Demo Networks', start_url: '/portal/', display: 'standalone' })
  for (const { src } of manifest.icons) expect(await page.evaluate(async (icon) => (await fetch(icon)).status, src), src).toBe(200)

  await context.setOffline(true)
  await page.goto(`${at.isp}/portal/usage`)
  await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor()
  await expectNoViolations(page, 'offline')
  const kept = await page.evaluate(async () => {
    const texts = [JSON.stringify(localStorage), JSON.stringify(sessionStorage)]
    for (const name of await caches.keys()) {
      const cache = await caches.open(name)
      for (const request of await cache.keys()) texts.push(request.url, await (await cache.match(request))!.text())
    }
    return texts.join('\n')
  })
  for (const personal of [customer.phone, customer.accountNumber, customer.id, 'Mbali', name]) expect(kept, personal).not.toContain(personal)
  expect(kept).not.toContain('/me/subscribers\n')
  await context.setOffline(false)
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()

  // Another worker waits until the page is left, as that of a new version does, and throws away then what one before it has kept.
  await page.evaluate(async () => {
    await caches.open('portal-of-before')
    await navigator.serviceWorker.register('/portal/worker.js?next', { scope: '/portal/' })
  })
  await page.getByText('There is a new version of these pages.').waitFor()
  expect(await page.evaluate(() => caches.keys()), 'the open page keeps its files').toHaveLength(2)
  await page.evaluate(() => Object.assign(window, { old: true }))
  await place(page, 'Home').click()
  await home(page)
  expect(await page.evaluate(() => 'old' in window), 'the next page is of the new version').toBe(false)
  expect(await page.evaluate(() => caches.keys())).toHaveLength(1)
  expect(await page.evaluate(() => navigator.serviceWorker.controller?.scriptURL)).toContain('?next')

  await place(page, 'Profile').click()
  await button(page, 'Sign out').click()
  await button(page, 'Send me a code').waitFor()
  await page.goBack()
  await button(page, 'Send me a code').waitFor()
  expect(await page.getByText('Mbali').count()).toBe(0)
  expect(await call(page, 'GET', '/me/subscribers')).toMatchObject({ status: 401 })
})

flow('a page that cannot be read any more says that it may be old, and goes on by itself', async ({ page }) => {
  const customer = await letIn('Zamani')
  await page.clock.install()
  await enter(page, customer.phone)
  await home(page)
  const paths = /\/(me\/subscribers|auth\/me|invoices|subscribers\/[^/]+\/access)(\?|$)/
  await page.route(paths, (route) => route.abort())
  for (let waited = 0; waited < 8; waited++) await page.clock.runFor(15_000)
  await page.getByText('The connection is broken: what is shown may be old.').waitFor()
  await page.unroute(paths)
  await page.clock.runFor(60_000)
  await page.getByText('The connection is broken').waitFor({ state: 'hidden' })
})

// Several people, and several tabs, in one browser: its cookies are those of all of them.
import type { BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, dialogOf, field, isBack } from './hands'
import { at, besideOthers, call, drawn, fillSignIn, firstOf, flow, goTo, password, people, type Row, signIn, unpaid } from './kit'

interface Done {
  action: string
  actor: { name: string }
}

const menuOf = (page: Page) => page.getByRole('navigation', { name: 'Menu' })

/** another opens a page beside the first one, in the same browser. */
async function another(context: BrowserContext, url: string) {
  const page = await context.newPage()
  await page.goto(url)
  return page
}

/** leave signs out, whatever the page thinks, and signs somebody else in. */
async function becomes(page: Page, email: string, host: string) {
  await page.goto(`${host}/app/`)
  await page.evaluate(() => fetch('/auth/logout', { method: 'POST' }))
  await page.goto(`${host}/app/`)
  await fillSignIn(page, email, password)
  await menuOf(page).waitFor()
}

besideOthers('a page does nothing in the name of somebody else who has signed in meanwhile', async ({ page, context }) => {
  await signIn(page, 'admin', '/customers/new')
  const name = `Nyumba ${Date.now()}`
  await page.getByLabel('First name').fill(name)
  await page.getByRole('textbox', { name: 'Phone', exact: true }).fill(`07${String(Date.now()).slice(-8)}`)
  const other = await another(context, `${at.root}/app/`)
  await becomes(other, people.root.email, at.root)
  await page.bringToFront()
  await page.getByRole('button', { name: 'Register' }).click()
  const dialog = page.getByRole('dialog', { name: 'Somebody else is signed in now' })
  await dialog.waitFor()
  // What was asked for is done by the right person, who need not ask again.
  await dialog.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('link', { name: 'Open the customer' }).click()
  await page.waitForURL(/customers\/[0-9a-f-]{36}$/)
  const id = page.url().split('/').at(-1)
  const { action, actor } = (await firstOf(page, `/audit-log?target=${id}`)) as unknown as Done
  expect([action, actor.name]).toEqual(['subscribers.RegisterSubscriber', 'Demo Admin'])
  await other.bringToFront()
  await menuOf(other).getByRole('link', { name: 'Organizations' }).click()
  await other.getByRole('dialog', { name: 'Somebody else is signed in now' }).waitFor()
})

besideOthers('who cannot be signed out is told so', async ({ page }) => {
  await signIn(page, 'support')
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.route('**/auth/logout', (route) => route.abort(), { times: 1 })
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  const dialog = page.getByRole('dialog', { name: 'Signing out has failed' })
  await dialog.getByText('You may still be signed in here.').waitFor()
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  expect((await call(page, 'GET', '/auth/me')).status).toBe(401)
})

besideOthers('eight tabs of one person are all live, by one connection', async ({ page, context }) => {
  const streams = new Set<string>()
  context.on('request', (r) => r.url().includes('/events/stream') && streams.add(r.url()))
  await signIn(page, 'support')
  const tabs = [page]
  for (let i = 0; i < 7; i++) tabs.push(await another(context, `${at.isp}/app/customers`))
  for (const tab of tabs) await menuOf(tab).waitFor()
  await drawn(page)
  expect(streams.size).toBe(1)
  // The tab that reads for all is closed, and another one goes on.
  const made = context.waitForEvent('request', (r) => r.url().includes('/events/stream'))
  await page.close()
  await made
})

besideOthers('a wrong present password is told, and ends no session', async ({ page }) => {
  await signIn(page, 'support', '/account')
  const tries: number[] = []
  page.on('response', (r) => r.url().endsWith('/auth/password') && tries.push(r.status()))
  await page.getByLabel('Present password').fill('not my password')
  await page.getByLabel('New password', { exact: true }).fill('a long new password')
  await page.getByLabel('New password again').fill('a long new password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  expect(tries).toHaveLength(1)
  expect(await page.getByRole('dialog').count()).toBe(0)
})

besideOthers('a session is not over because nobody can say so', async ({ page, context }) => {
  await signIn(page, 'support', '/customers')
  await page.route('**/auth/refresh', (route) => route.fulfill({ status: 503, json: { statusCode: 503, code: 'unavailable' } }))
  const kept = (await context.cookies()).filter((c) => c.name.includes('access'))
  await context.clearCookies({ name: kept[0]?.name })
  await page.getByRole('textbox', { name: 'Name, phone or account' }).fill('acacia')
  await page.getByRole('alert').first().waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.unroute('**/auth/refresh')
  // It is read again by itself, within a quarter of a minute.
  await page.getByRole('link', { name: 'Acacia House' }).waitFor()
})

besideOthers('a credit note whose answer was lost is made once, whatever is pressed', async ({ page }) => {
  await signIn(page, 'admin')
  const made = await unpaid(page, `Nota ${Date.now()}`)
  const invoice = await firstOf(page, `/invoices?subscriberId=${made.id}`)
  await page.goto(`${at.isp}/app/invoices/${invoice.id}`)
  const path = `**/invoices/${invoice.id}/credit-note`
  const open = async () => {
    await page.getByRole('button', { name: 'Credit note', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount').fill('100')
    await dialog.getByLabel('Reason').fill('a street without power')
    return dialog
  }
  let dialog = await open()
  // The server does it, and its answer is lost.
  await page.evaluate(() => {
    const real = window.fetch
    window.fetch = async (...sent) => {
      const answer = await real(...sent)
      if (!answer.url.endsWith('/credit-note')) return answer
      window.fetch = real
      throw new TypeError('Failed to fetch')
    }
  })
  await dialog.getByRole('button', { name: 'Give back' }).click()
  await dialog.getByRole('alert').waitFor()
  await page.route(path, (route) => route.fulfill({ status: 429, json: { statusCode: 429, code: 'rate_limited' } }), { times: 1 })
  await dialog.getByRole('button', { name: 'Give back' }).click()
  await dialog.getByRole('alert').waitFor()
  await page.keyboard.press('Escape')
  dialog = await open()
  await dialog.getByRole('button', { name: 'Give back' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const { body } = await call<{ creditNotes: unknown[] }>(page, 'GET', `/invoices/${invoice.id}`)
  expect(body.creditNotes).toHaveLength(1)
})

besideOthers('who signs out in another tab, or signs in elsewhere there, is told so on the page that is still open', async ({ page, context }) => {
  await signIn(page, 'support', '/customers')
  const other = await another(context, `${at.isp}/app/`)
  await menuOf(other).waitFor()
  await other.evaluate(() => fetch('/auth/logout', { method: 'POST' }))
  await page.getByRole('textbox', { name: 'Name, phone or account' }).fill('acacia')
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByText('signed in to another organization').waitFor()
  await dialog.getByLabel('Password', { exact: true }).fill(password)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('link', { name: 'Acacia House' }).waitFor()
})

besideOthers('an operator of the platform at an organization is called none of its staff, and signs in at the platform', async ({ page, context }) => {
  await signIn(page, 'root')
  await page.goto(`${at.isp}/app/account`)
  await page.getByText('The platform, now at Demo Networks').waitFor()
  await page.getByText('You are none of its staff.').waitFor()
  expect(await page.getByText('changed by an administrator of your organization').count()).toBe(0)
  await context.clearCookies()
  await menuOf(page).getByRole('link', { name: 'Customers' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  expect(await dialog.getByRole('link').getAttribute('href')).toBe(`${at.root}/app/`)
  expect(await dialog.getByLabel('Password', { exact: true }).count()).toBe(0)
  const other = await another(context, `${at.root}/app/`)
  await fillSignIn(other, people.root.email, password)
  await menuOf(other).waitFor()
  await dialog.getByRole('button', { name: 'Go on here' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('row').nth(3).waitFor()
})

flow('what two people type about one customer is brought together, and nothing of it goes silently', async ({ page }) => {
  await signIn(page, 'admin')
  const phone = (last: number) => `+2547${String(Date.now() + last).slice(-8)}`
  const made = await call<Row>(page, 'POST', '/subscribers', { firstName: 'Neema', lastName: `Wawili${Date.now()}`, phone: phone(0) })
  await goTo(page, 'admin', `/customers/${made.body.id}`)
  const dialog = dialogOf(page)
  await button(page, 'Edit').click()
  await field(dialog, 'First name').fill('Naomi')
  await field(dialog, 'Notes').fill('Gate is green.')
  // The colleague changes the same name and, alone, the phone.
  const theirs = phone(1)
  const path = `/subscribers/${made.body.id}`
  const changed = await call(page, 'PATCH', path, { firstName: 'Nuru', phone: theirs })
  expect(changed.status).toBe(200)
  await dialog.getByText('Somebody changed this while you were editing.').waitFor()
  expect(await button(dialog, 'Save').isDisabled()).toBe(true)
  expect(await field(dialog, 'First name').inputValue()).toBe('Naomi')
  await button(dialog, 'Load the new values').click()
  await dialog.getByText('First name: you typed “Naomi”.').waitFor()
  await isBack(field(dialog, 'First name'))
  const shown = ['First name', 'Phone', 'Notes'].map((name) => field(dialog, name).inputValue())
  expect(await Promise.all(shown)).toEqual(['Nuru', theirs, 'Gate is green.'])
  await button(dialog, 'Save').click()
  await dialog.waitFor({ state: 'hidden' })
  const saved = (await call<Row>(page, 'GET', path)).body
  expect([saved.firstName, saved.phone, saved.notes]).toEqual(['Nuru', theirs, 'Gate is green.'])
})

flow('a save that is refused before the colleague was heard of keeps what was typed', async ({ page }) => {
  await signIn(page, 'admin')
  const made = await call<Row>(page, 'POST', '/subscribers', {
    firstName: 'Neema', lastName: `Kabla${Date.now()}`, phone: `+2547${String(Date.now() + 2).slice(-8)}`,
  })
  const path = `/subscribers/${made.body.id}`
  await goTo(page, 'admin', `/customers/${made.body.id}`)
  const dialog = dialogOf(page)
  await button(page, 'Edit').click()
  await field(dialog, 'Address').fill('House 7')
  // Until the save is refused this page reads nothing new.
  await page.route(`**${path}`, (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()))
  await page.evaluate(async (path) => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() }
    await fetch(path, { method: 'PATCH', headers, body: JSON.stringify({ notes: 'Dog in the yard.' }) })
  }, path)
  await button(dialog, 'Save').click()
  await dialog.getByText('Somebody changed this while you were editing.').waitFor()
  await page.unroute(`**${path}`)
  await button(dialog, 'Load the new values').click()
  await expect.poll(() => field(dialog, 'Notes').inputValue()).toBe('Dog in the yard.')
  expect(await field(dialog, 'Address').inputValue()).toBe('House 7')
  await button(dialog, 'Save').click()
  await dialog.waitFor({ state: 'hidden' })
})

const changedMeanwhile = 'Somebody changed this while you were editing.'

flow('two people at one plan, or at one service’s addresses, undo nothing of each other', async ({ page }) => {
  await signIn(page, 'admin')
  const plan = (await call<Row>(page, 'POST', '/plans', {
    code: `wawili-${Date.now()}`, name: 'Wawili', kind: 'pppoe', price: 9000, currency: 'KES',
    billing: { mode: 'prepaid', period: 'month' }, rates: { down: 50_000, up: 10_000 },
  })).body
  const path = `/plans/${plan.id}`
  await goTo(page, 'admin', `${path}?edit=true`)
  await field(page, /^Price/).fill('9500')
  await field(page, 'Up').first().fill('20')
  expect((await call(page, 'PATCH', path, { price: 12_000, rates: { down: 60_000, up: 10_000 } })).status).toBe(200)
  await page.getByText(changedMeanwhile).waitFor()
  expect(await button(page, 'Save as the next version').isDisabled()).toBe(true)
  await button(page, 'Load the new values').click()
  await page.getByText('Price: you typed “9500”.').waitFor()
  expect(await field(page, /^Price/).inputValue()).toBe('12,000')
  await button(page, 'Save as the next version').click()
  await page.getByRole('heading', { level: 1, name: 'Wawili', exact: true }).waitFor()
  const saved = (await call<{ price: number; rates: object }>(page, 'GET', path)).body
  expect([saved.price, saved.rates]).toMatchObject([12_000, { down: 60_000, up: 20_000 }])

  const made = await unpaid(page, `Anwani${Date.now()}`)
  const { id } = await firstOf(page, `/subscriptions?subscriberId=${made.id}`)
  await goTo(page, 'admin', `/customers/${made.id}`)
  await page.getByRole('button', { name: /^What can be done/ }).first().click()
  await page.getByRole('menuitem', { name: 'Devices and address' }).click()
  const dialog = dialogOf(page)
  await field(dialog, 'Devices let in').fill('AA:BB:CC:DD:EE:01')
  expect((await call(page, 'PATCH', `/subscriptions/${id}`, { staticIp: '197.136.5.9' })).status).toBe(200)
  await dialog.getByText(changedMeanwhile).waitFor()
  await button(dialog, 'Load the new values').click()
  await expect.poll(() => field(dialog, 'Fixed address').inputValue()).toBe('197.136.5.9')
  await button(dialog, 'Save').click()
  await dialog.waitFor({ state: 'hidden' })
  const service = (await call<{ staticIp: string; macAddresses: string[] }>(page, 'GET', `/subscriptions/${id}`)).body
  expect([service.staticIp, service.macAddresses]).toEqual(['197.136.5.9', ['AA:BB:CC:DD:EE:01']])
})

flow('a secret that a colleague has replaced is not overwritten unseen, and none that was typed is told', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await firstOf(page, '/nas/devices?limit=1')
  await goTo(page, 'admin', `/routers/${id}?view=settings`)
  const secret = page.getByRole('textbox', { name: 'RADIUS secret' })
  await secret.fill('typed-by-the-second')
  const path = `/nas/devices/${id}`
  expect((await call(page, 'PATCH', path, { radiusSecret: 'typed-by-the-first-one' })).status).toBe(200)
  await page.getByText(changedMeanwhile).waitFor()
  expect(await button(page, 'Save').isDisabled()).toBe(true)
  await button(page, 'Load the new values').click()
  await page.getByText('RADIUS secret: you typed “••••••”.').waitFor()
  expect(await secret.inputValue()).toBe('')
  expect(await button(page, 'Save').isDisabled()).toBe(true)
  expect(await page.getByText('typed-by-the-second').count()).toBe(0)
})

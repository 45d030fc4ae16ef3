import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, confirms, dialogOf, field, inMenu, isBack, pick, told, writesOf } from './hands'
import { at, call, expectNoViolations, firstOf, flow, goTo, type Row, sideways, signIn, simulate } from './kit'

// Writes that mend what went wrong: at a router, in what customers may do, with money, in the program itself.

const router = 'market-square'

type Items = Record<string, Record<string, string>[]>

/** configOf reads what a simulated router has in a menu. */
async function configOf(name: string, menu: string) {
  return ((await (await fetch(`${at.routers}/sim/routers/${name}/config`)).json()) as Items)[menu] ?? []
}

/** byHand does at a simulated router what somebody does with Winbox. */
async function byHand(menu: string, command: string, args: object) {
  await simulate('POST', `${at.routers}/sim/routers/${router}/edit`, { menu, command, args })
}

/** idOf finds a router by its name. */
async function idOf(page: Page, name: string) {
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/nas/devices?limit=100')
  return String(body.data.find((r) => r.name === name)?.id)
}

flow('what somebody has changed at a router is repaired part by part: firewall, setup, a service', async ({ page }) => {
  await signIn(page, 'admin')
  const id = await idOf(page, router)
  const rule = (await configOf(router, 'ip/firewall/filter')).find((r) => r.comment?.includes('tunnel-drop'))
  await byHand('ip/firewall/filter', 'remove', { '.id': rule?.['.id'] })
  const [server] = await configOf(router, 'radius')
  await byHand('radius', 'set', { '.id': server?.['.id'], timeout: '9s' })
  const pool = (await configOf(router, 'ip/pool')).find((p) => p.name?.includes('svc-'))
  await byHand('ip/pool', 'set', { '.id': pool?.['.id'], ranges: '10.50.222.10-10.50.222.20' })

  await goTo(page, 'admin', `/routers/${id}?view=differences`)
  const writes = writesOf(page)
  const part = (name: string) => page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name, exact: true }) })
  const repairs = async (name: string, title: string) => {
    const repair = button(part(name), 'Repair')
    await repair.click()
    await dialogOf(page).getByText(title).waitFor()
    await dialogOf(page).getByText(/^Writes|^Adds|^Changes|^Removes|write/i).first().waitFor()
    await button(dialogOf(page), 'Cancel').click()
    await isBack(repair)
    await repair.click()
    await dialogOf(page).locator('button[type=submit]').dblclick()
    // A change that could cut the platform off is asked for again.
    const again = button(dialogOf(page), 'Repair all the same')
    await Promise.race([again.waitFor(), dialogOf(page).waitFor({ state: 'hidden' })])
    if (await again.isVisible()) await again.click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await part(name).getByText(/^Repaired with|^Nothing had to/).waitFor()
    await part(name).getByText('As it should be.').waitFor()
  }
  await repairs('Firewall', 'Repair the firewall rules')
  await repairs('Setup', 'Repair the setup')
  expect(writes.filter((w) => w.endsWith('/firewall/reconcile'))).toHaveLength(1)

  const service = await firstOf(page, `/nas/devices/${id}/services`)
  await goTo(page, 'admin', `/services/${service.id}`)
  await page.getByText('10.50.222.10-10.50.222.20').waitFor()
  await button(page.locator('.answer'), 'Repair').click()
  await confirms(page, 'Repair')
  await told(page, /^The (service is as it should be|repair goes on)/)
  await page.getByText('Works: the router is as it should be.').waitFor()
})

flow('a login that somebody made at the router is found by a look, and shut out by a repair', async ({ page }) => {
  await signIn(page, 'admin', '/differences')
  const tower = `${at.routers}/sim/routers/tower-north`
  const user = `jane${Date.now()}`
  const profile = (await configOf('tower-north', 'ppp/profile')).find((p) => p.name?.startsWith('ppp-prof-svc-'))
  await simulate('POST', `${tower}/edit`, { menu: 'ppp/secret', command: 'add', args: { name: user, password: 'pw', profile: profile?.name } })
  await simulate('PUT', `${tower}/customers/${user}`, { password: 'pw' })
  // The device dials within moments; a look before that finds nothing.
  await expect.poll(async () => ((await (await fetch(`${tower}/customers/${user}`)).json()) as { state: string }).state).toBe('online')
  const look = button(page, 'Look at tower-north now')
  await look.click()
  const card = page.getByRole('article').filter({ hasText: user })
  await card.waitFor()
  const repair = button(card, 'Repair')
  await repair.click()
  await dialogOf(page).getByText(/^Changes tower-north/).waitFor()
  await button(dialogOf(page), 'Cancel').click()
  await isBack(repair)
  const writes = writesOf(page)
  await repair.click()
  await confirms(page, 'Repair')
  await told(page, /\w/)
  expect(writes.filter((w) => w.endsWith('/repair'))).toHaveLength(1)
  await expect.poll(() => look.isEnabled()).toBe(true)
  await look.click()
  await card.waitFor({ state: 'hidden' })
})

flow('whoever promises to pay is put on hold from the board of debts, and taken off it', async ({ page }) => {
  await signIn(page, 'admin')
  const row = await firstOf(page, '/dunning?state=reminding')
  const name = (row.subscriber as { name: string }).name
  await goTo(page, 'admin', '/dunning')
  const dialog = dialogOf(page)
  const menu = button(page, `What can be done for ${name}`)
  await inMenu(page, menu, 'Put on hold')
  const send = dialog.locator('button[type=submit]')
  expect(await send.isDisabled()).toBe(true)
  await field(dialog, 'Reason').fill('Pays on Friday.')
  await dialog.locator('input[type=date]').fill('2020-01-01')
  await dialog.locator('form').evaluate((form: HTMLFormElement) => { form.noValidate = true })
  await send.click()
  await dialog.getByRole('alert').waitFor()
  expect(await field(dialog, 'Reason').inputValue()).toBe('Pays on Friday.')
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
  await dialog.locator('input[type=date]').fill(day)
  const writes = writesOf(page)
  await send.dblclick()
  await told(page, /^The clock stands still to the end of /)
  expect(writes).toEqual(['POST /subscriptions/{id}/hold'])
  await isBack(menu)
  await inMenu(page, menu, 'End the hold')
  await confirms(page, 'End the hold')
  await told(page, 'The hold has ended.')
})

flow('money that no organization claims is given to one on the platform', async ({ page }) => {
  await signIn(page, 'root', '/suspense')
  const msisdn = `2547${String(Date.now()).slice(-8)}`
  await simulate('POST', `${at.provider}/sim/paybill`, { shortCode: '600100', msisdn, amount: 444, billRefNumber: `nobody-${Date.now()}` })
  await page.getByText('KES 444').first().waitFor()
  const give = button(page, 'Give to this organization')
  expect(await give.isDisabled()).toBe(true)
  await pick(page, field(page, 'Organization'), 'Demo', /Demo Networks/)
  const writes = writesOf(page)
  await give.click()
  await dialogOf(page).getByText(new RegExp(`^KES.444, paid by .*${msisdn}.*, becomes the money of Demo Networks`)).waitFor()
  await button(dialogOf(page), 'Cancel').click()
  await isBack(give)
  expect(writes).toEqual([])
  await give.click()
  await confirms(page, 'Give it')
  await told(page, /444 given to Demo Networks/)
  expect(writes).toEqual(['POST /receipts/{id}/assign'])
  // There it is on no account: taking it back says so.
  await signIn(page, 'admin')
  const held = await call<{ data: (Row & { payer: { phone: string } })[] }>(page, 'GET', '/receipts?state=suspense&limit=100')
  await goTo(page, 'admin', `/receipts/${held.body.data.find((r) => r.payer.phone.endsWith(msisdn))?.id}`)
  await button(page, 'Take back').click()
  const leaves = new RegExp(`^KES.444, paid by .*${msisdn}.*, leaves suspense, and nobody is credited\\. Do this only when`)
  await dialogOf(page).getByText(leaves).waitFor()
  expect(await dialogOf(page).getByText(/account/).count()).toBe(0)
  await confirms(page, 'Take back', 'The provider has sent it back.')
  await told(page, /444 was taken back/)
})

flow('a part of the program that has stopped is shown with its cause, and tried again', async ({ page }) => {
  await signIn(page, 'root')
  const cause = 'subscription is in a state that nobody thought of '.repeat(20)
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/system/processes')
  Object.assign(body.data[0] ?? {}, {
    stopped: [{ key: 'W'.repeat(300), command: 'access.Restore', since: '2026-01-01T00:00:00Z', waiting: 3, error: cause }],
  })
  await page.route('**/system/processes', (route) => route.fulfill({ json: body }))
  await goTo(page, 'root', '/system')
  await page.getByText('subscription is in a state', { exact: false }).first().waitFor()
  expect(await sideways(page)).toBeLessThanOrEqual(0)
  const retry = button(page, 'Try again')
  await retry.click()
  // The part has only stopped on this page: the program says that it knows none of this name.
  await button(dialogOf(page), 'Try again').click()
  await dialogOf(page).getByRole('alert').waitFor()
  await page.route('**/system/processes/*/retry', (route) => route.fulfill({ status: 200, json: {} }))
  const writes = writesOf(page)
  await button(dialogOf(page), 'Try again').dblclick()
  await told(page, 'It is tried again within seconds.')
  expect(writes).toHaveLength(1)
  await isBack(retry)
})

flow('a read model that has stopped and a part that is down are shown with what helps', async ({ page }) => {
  await signIn(page, 'root')
  const read = await call<{ data: Row[] }>(page, 'GET', '/system/projections')
  const [model] = read.body.data
  Object.assign(model ?? {}, { name: 'billing_statement', state: 'stopped', error: 'new row for relation "lines" violates a constraint' })
  await page.route('**/system/projections', (route) => route.fulfill({ json: read.body }))
  const parts = await call<{ data: Row[] }>(page, 'GET', '/system/parts')
  Object.assign(parts.body.data.find((p) => p.name === 'eventstore') ?? {}, { state: 'down', detail: null })
  await page.route('**/system/parts', (route) => route.fulfill({ json: parts.body }))
  const breakers = await call<{ data: Row[] }>(page, 'GET', '/platform/breakers')
  const mobile = { target: 'safaricom', kind: 'provider', openedAt: null, retryAt: null, device: null, organization: null }
  breakers.body.data = [{ ...mobile, id: '', state: 'closed', failures: 2, lastError: 'connection reset by peer' }]
  await page.route('**/platform/breakers', (route) => route.fulfill({ json: breakers.body }))
  await goTo(page, 'root', '/system')
  await page.getByText('3 things need a look.').waitFor()
  await page.getByText('new row for relation "lines" violates a constraint').waitFor()
  await button(page, 'Copy lastmile projections rebuild billing_statement').waitFor()
  await page.getByText('The event store does not answer, so that nothing can be saved').waitFor()
  await page.getByText('guide of operations: “The event store is away”').waitFor()
  await page.getByText('Called, but fails').waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.getByText('connection reset by peer').isVisible()).toBe(true)
  expect(await sideways(page)).toBeLessThanOrEqual(0)
  await expectNoViolations(page)
})

flow('Home of the platform counts what is called and fails, as System does', async ({ page }) => {
  await signIn(page, 'root')
  const { body } = await call<Record<string, unknown>>(page, 'GET', '/reports/today')
  const today = { ...body, faults: [], suspense: [], breakers: { open: 0, failing: 1 } }
  await page.route('**/reports/today', (route) => route.fulfill({ json: today }))
  await goTo(page, 'root', '/')
  await page.getByText('Nothing is broken; something waits for you').waitFor()
  await page.getByText('system is called, but fails').click()
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor()
})

flow('the root host says of a page of organizations where it is', async ({ page }) => {
  await signIn(page, 'root', '/receipts/01a1f816-2ea0-7aa0-8a64-228751558e94')
  await page.getByText('This page is on the address of an organization').waitFor()
  await page.getByRole('link', { name: 'Suspense', exact: true }).last().click()
  await page.getByText('This money does not wait with the platform.', { exact: false }).waitFor()
  await goTo(page, 'root', '/customers')
  await page.getByText('Customers, money and routers are shown where they belong.', { exact: false }).waitFor()
})

flow('the platform reads whose an entry of its audit log is, and those of one organization', async ({ page }) => {
  await signIn(page, 'root', '/audit')
  const log = page.getByRole('table')
  await log.getByRole('link', { name: 'Demo Networks' }).first().waitFor()
  await pick(page, field(page, 'Organization'), 'Demo', /Demo Networks/)
  await page.waitForURL(/orgId=/)
  await expect.poll(() => log.getByText('The platform', { exact: true }).count()).toBe(0)
  await log.getByRole('link', { name: 'Demo Networks' }).first().waitFor()
  await page.reload()
  await expect.poll(() => field(page, 'Organization').inputValue()).toBe('Demo Networks (demo)')
  await log.getByRole('link').first().click()
  await dialogOf(page).getByRole('link', { name: 'Demo Networks' }).waitFor()
})

flow('a reboot is asked about only when it is known who is online, and a silent count is not called nobody', async ({ page }) => {
  await signIn(page, 'admin')
  const id = await idOf(page, router)
  await goTo(page, 'admin', `/routers/${id}`)
  let answer: (() => void) | null = null
  await page.route(`**/nas/devices/${id}/sessions?*`, async (route) => {
    await new Promise<void>((done) => (answer = done))
    await route.fulfill({ status: 503, json: { statusCode: 503, code: 'device_unreachable', message: 'The router does not answer.' } })
  })
  await button(page, 'Reboot').click()
  const dialog = dialogOf(page)
  await dialog.getByText('The router is asked who is online there').waitFor()
  expect(await button(dialog, 'Reboot').isDisabled()).toBe(true)
  await expect.poll(() => answer).not.toBeNull()
  answer!()
  await dialog.getByText('Disconnects everybody who is online there.').waitFor()
  expect(await button(dialog, 'Reboot').isDisabled()).toBe(false)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  const rows = Array.from({ length: 100 }, (_, n) => ({ kind: 'hotspot', user: `u${n}`, address: `10.0.0.${n}`, uptimeSeconds: 1 }))
  await page.route(`**/nas/devices/${id}/sessions?*`, (route) => route.fulfill({ json: { data: rows, nextCursor: 'c', hasMore: true } }))
  await button(dialog, 'Cancel').click()
  await button(page, 'Reboot').click()
  await dialog.getByText('Disconnects more than 100 sessions.').waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

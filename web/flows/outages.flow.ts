import { expect } from 'vitest'
import { button, confirms, dialogOf, field, told, writesOf } from './hands'
import {
  at, call, expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, type Row, signIn, unpaid,
} from './kit'

flow('an outage is begun, told on the status page and at Home, ended, and its customers are compensated once', async ({ page, context }) => {
  await signIn(page, 'admin')
  const tag = `mlima${Date.now()}`
  const customer = await unpaid(page, 'Fidia')
  const paid = await call(page, 'POST', '/payments/cash', { subscriberId: customer.id, amount: customer.due, reference: `Book 7/${Date.now()}` })
  expect(paid.status).toBe(201)
  expect((await call(page, 'PATCH', `/subscribers/${customer.id}`, { tags: [tag] })).status).toBe(200)
  const line = `/subscriptions?subscriberId=${customer.id}`
  await expect.poll(async () => (await firstOf(page, line)).paidUntil).toBeTruthy()
  const before = Date.parse(String((await firstOf(page, line)).paidUntil))
  const main = page.getByRole('main')

  // Somebody knows of it before the platform can.
  await goTo(page, 'admin', '/outages')
  await button(main, 'Begin an outage').click()
  const dialog = dialogOf(page)
  await dialog.getByLabel('Where').selectOption('tag')
  await field(dialog, 'Tag of the customers').fill(tag)
  await field(dialog, 'Title').fill(`No power at ${tag}`)
  await button(dialog, 'Begin an outage').click()
  await told(page, 'The outage has begun.')
  await main.getByText('Lasts: 1 customer has no service').waitFor()
  await main.getByRole('link', { name: /^Fidia/ }).waitFor()
  await expectNoViolations(page)
  const outage = page.url().split('/').pop() ?? ''

  // The same place again is refused, with what was typed still there.
  await goTo(page, 'admin', '/outages')
  await button(main, 'Begin an outage').click()
  await dialog.getByLabel('Where').selectOption('tag')
  await field(dialog, 'Tag of the customers').fill(tag)
  await button(dialog, 'Begin an outage').click()
  await dialog.getByText(/An outage of this place lasts already/).waitFor()
  await button(dialog, 'Cancel').click()

  await goTo(page, 'admin', `/outages/${outage}`)
  await button(main, 'Say what happened').click()
  await field(dialogOf(page), 'What happened').fill('The transformer has burnt out.')
  await button(dialogOf(page), 'Save').click()
  await main.getByText('The transformer has burnt out.').waitFor()
  const visitor = await context.newPage()
  await visitor.goto(`${at.isp}/status`)
  await visitor.getByText(`No power at ${tag}`).waitFor()
  expect(await visitor.locator('body').innerText()).not.toContain('Fidia')
  await visitor.close()

  await goTo(page, 'admin', '/')
  const fault = main.locator('.fault').filter({ hasText: `Outage: No power at ${tag}` })
  await fault.getByRole('link', { name: '1 customer is off' }).click()
  await main.getByText('Lasts: 1 customer has no service').waitFor()

  await button(main, 'End the outage').click()
  await button(dialogOf(page), 'End the outage').click()
  await told(page, 'The outage is over.')
  await main.getByText('Over: 1 customer had no service').waitFor()

  // Nothing is given before everybody is seen.
  const writes = writesOf(page)
  await main.getByRole('link', { name: 'Compensate its customers' }).click()
  await field(main, 'Reason').fill('There was no power.')
  await button(main, 'Preview').click()
  await main.getByRole('link', { name: '1 day', exact: true }).waitFor()
  await expectNoViolations(page)
  expect(Date.parse(String((await firstOf(page, line)).paidUntil))).toBe(before)
  await button(main, 'Give 1 day to 1 customer').click()
  await confirms(page, 'Give 1 day to 1 customer')
  await told(page, 'It is being given.')
  await main.getByText('Has it').waitFor()
  await button(main, 'Undo this compensation').waitFor() // it can be taken back where it is looked at
  expect(writes.filter((w) => w.endsWith('/apply'))).toHaveLength(1)
  await expect.poll(async () => Date.parse(String((await firstOf(page, line)).paidUntil))).toBe(before + 86_400_000)

  // The same time is not given again, and the page says why.
  await goTo(page, 'admin', `/compensations/new?outageId=${outage}`)
  await main.getByRole('radio', { name: 'Days', exact: true }).check()
  await field(main, 'Reason').fill('Once more.')
  await button(main, 'Preview').click()
  await main.getByText('Nobody of these gets something.').waitFor()
  await main.getByText('A part of this time was compensated before').waitFor()
  expect(await button(main, /^Give /).count()).toBe(0)
  await page.setViewportSize(phone.viewport)
  await expectNoSideways(page, 'a compensation on a phone')
  await goTo(page, 'admin', `/outages/${outage}`)
  await main.getByRole('link', { name: '1 day', exact: true }).waitFor()
  await expectNoSideways(page, 'an outage on a phone')
})

flow('a router stands behind another one, and never behind itself', async ({ page }) => {
  await signIn(page, 'admin')
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/nas/devices?limit=100')
  const named = (name: string) => body.data.find((r) => r.name === name)?.id ?? ''
  const main = page.getByRole('main')
  await goTo(page, 'admin', `/routers/${named('lodge-south')}?view=settings`)
  const upstream = main.getByRole('textbox', { name: 'Stands behind' })
  await upstream.click()
  expect(await page.getByRole('option', { name: 'lodge-south' }).count()).toBe(0)
  await page.getByRole('option', { name: 'tower-north' }).click()
  await button(main, 'Save').click()
  await told(page, /./)
  await goTo(page, 'admin', `/routers/${named('lodge-south')}`)
  await main.getByRole('link', { name: 'tower-north' }).waitFor()
  const circle = await call<Row>(page, 'PATCH', `/nas/devices/${named('tower-north')}`, { upstreamId: named('lodge-south') })
  expect([circle.status, circle.body.code]).toEqual([422, 'upstream_cycle'])
})

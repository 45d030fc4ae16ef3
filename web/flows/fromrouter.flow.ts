import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { button, field } from './hands'
import { call, expectNoSideways, expectNoViolations, flow, goTo, phone, type Row, signIn } from './kit'

const desk = { width: 1366, height: 768 }

flow('what a router knows becomes plans with prices and customers with their passwords', async ({ page }) => {
  await signIn(page, 'admin', '/imports')
  const main = page.getByRole('main')
  await main.getByRole('combobox', { name: 'Router' }).or(main.getByRole('textbox', { name: 'Router' })).first().click()
  await page.getByRole('option', { name: 'tower-north' }).click()
  await button(main, 'Read the router').click()
  await main.getByText('6 customers', { exact: true }).waitFor()
  await main.getByText('1 without a phone').waitFor()
  await main.getByText('on the router: 5M/10M 10M/20M 4M/8M 16/16 6. A plan does not have all of that.').waitFor()
  await main.getByRole('cell', { name: 'kamau' }).waitFor()
  await expectNoViolations(page)
  await page.setViewportSize(phone.viewport)
  await expectNoSideways(page, 'a proposal on a phone')
  await page.setViewportSize(desk)

  // Nothing is made without a price; a profile without a speed needs one, too.
  expect(await button(main, /^Make/).isDisabled()).toBe(true)
  await field(main, 'Price of Old-5M').fill('1000')
  await field(main, 'Price of Old-10M').fill('1800')
  await field(main, 'Price of Friends').fill('0')
  await field(main, 'Friends: down').fill('2')
  await field(main, 'Friends: up').fill('1')
  await button(main, 'Make 3 plans').click()
  await main.getByText('A plan has this code: Old-10M').waitFor()
  await main.getByText('A plan has this code: Friends').waitFor()
  const plans = (await call<{ data: Row[] }>(page, 'GET', '/plans?limit=100')).body.data
  expect(plans.find((p) => p.code === 'Old-10M')).toMatchObject({
    price: 1800, kind: 'pppoe', rates: { down: 10_000, up: 5_000, burst: { down: 20_000, up: 10_000, seconds: 16 } },
  })

  // As they were read, one lacks a phone.
  await button(main, 'Check the customers').click()
  await main.getByText('5 rows can be taken in').waitFor()
  await main.getByRole('cell', { name: 'phone', exact: true }).first().waitFor()

  const saved = page.waitForEvent('download')
  await main.getByRole('link', { name: 'Save the table' }).click()
  const table = await readFile(await (await saved).path(), 'utf8')
  expect(table).toContain('Grace,Wanjiru,,Old-5M,Grace')
  expect(table).not.toContain('demo-login')
  const whole = table.replace('Grace,Wanjiru,,', 'Grace,Wanjiru,0722000504,')
  await main.locator('input[type=file]').setInputFiles({ name: 'customers.csv', mimeType: 'text/csv', buffer: Buffer.from(whole) })
  await button(main, 'Check the customers').click()
  await main.getByText('6 rows can be taken in').waitFor()
  await expectNoViolations(page)
  await button(main, 'Import 6 customers').click()
  await main.getByText('Finished: 6 customers were made').waitFor()

  const found = await call<{ data: { services: { subscriptionId: string; username: string }[] }[] }>(page, 'GET', '/subscribers?q=0722000504')
  const service = found.body.data[0]?.services[0]
  const login = await call(page, 'GET', `/subscriptions/${service?.subscriptionId}/credentials`)
  expect(login.body).toMatchObject({ username: 'Grace', password: 'demo-login-Grace' })
  await goTo(page, 'admin', '/imports')
  await main.getByRole('cell', { name: 'A router' }).waitFor()
})

flow('a router without an answer is told, and in Swahili', async ({ page }) => {
  await signIn(page, 'admin', '/imports')
  const main = page.getByRole('main')
  await page.evaluate(() => localStorage.setItem('lastmile.language', 'sw'))
  await page.reload()
  await main.getByRole('heading', { name: 'Kutoka kwenye ruta' }).waitFor()
  await main.getByRole('combobox', { name: 'Ruta' }).or(main.getByRole('textbox', { name: 'Ruta' })).first().click()
  await page.getByRole('option', { name: 'hill-east' }).click()
  await button(main, 'Soma ruta').click()
  await main.getByRole('alert').waitFor()
  await main.getByText('device_unreachable').waitFor()
  await expectNoViolations(page)
})

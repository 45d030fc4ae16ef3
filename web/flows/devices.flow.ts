import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, dialogOf, faultBeside, field, inMenu, pick, told, writesOf } from './hands'
import {
  at, call, codeTo, expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, type Row, signIn, simulate, visit,
} from './kit'

/** plugged plugs a new device in, which calls by itself, and gives its serial number. */
async function plugged(root: 'Device' | 'InternetGatewayDevice'): Promise<string> {
  const serialNumber = `FLOW${String(Date.now()).slice(-8)}`
  await simulate('POST', `${at.devices}/sim/devices`, { serialNumber, root })
  return serialNumber
}

/** claimed plugs one in and claims it. */
async function claimed(page: Page, root: 'Device' | 'InternetGatewayDevice'): Promise<Row> {
  const serial = await plugged(root)
  await expect.poll(async () => (await call<{ data: Row[] }>(page, 'GET', `/cpe/pending?serial=${serial}`)).body.data).toHaveLength(1)
  const { id } = await firstOf(page, `/cpe/pending?serial=${serial}`)
  const { status, body } = await call<Row>(page, 'POST', `/cpe/pending/${id}/claim`)
  expect(status).toBe(200)
  return body
}

flow('a device that has just been plugged in is claimed for a customer, and its Wi-Fi is changed', async ({ page }) => {
  const serial = await plugged('Device')
  await signIn(page, 'admin', '/pending-devices')
  const main = page.getByRole('main')
  await field(main, 'Serial number').fill(serial.toLowerCase())
  await button(main, `Claim ${serial}`).click()
  const dialog = dialogOf(page)
  await pick(page, field(dialog, 'Customer, when known'), 'acacia', /Acacia House/)
  await field(dialog, 'Label').fill('Kitchen')
  await button(dialog, 'Claim').click()
  await page.getByRole('heading', { level: 1, name: serial }).waitFor()
  await main.getByText('Acacia House').waitFor()
  await main.getByText('Kitchen').waitFor()

  await button(main, 'Change Wi-Fi').click()
  await field(dialog, 'Name of the network').fill('Nyumba ya Acacia')
  await field(dialog, 'Password').fill('fupi')
  await faultBeside(field(dialog, 'Password'), /at least 8/)
  expect(await button(dialog, 'Change Wi-Fi').isDisabled()).toBe(true)
  await field(dialog, 'Password').fill('ndefu-ya-kutosha')
  await expectNoViolations(page, 'the dialog of the Wi-Fi')
  const writes = writesOf(page)
  await button(dialog, 'Change Wi-Fi').dblclick()
  await told(page, /What becomes of it is listed below/)
  const changes = main.getByRole('table', { name: 'Changes' })
  // Its end comes by the stream of changes: nobody loads the page again.
  await changes.getByRole('row', { name: /Wi-Fi/ }).getByText('Done').waitFor()
  expect(writes).toEqual(['POST /cpe/devices/{id}/wifi'])
  expect(await page.locator('body').innerText()).not.toContain('ndefu-ya-kutosha')

  // The search and the customer's page lead to it.
  await page.keyboard.press('/')
  await page.getByRole('dialog', { name: 'Search' }).getByRole('textbox').or(page.getByRole('combobox', { name: 'Search' })).first().fill(serial)
  await page.getByRole('option', { name: new RegExp(serial) }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: serial }).waitFor()
  const acacia = await firstOf(page, '/subscribers?q=acacia')
  await goTo(page, 'admin', `/customers/${acacia.id}`)
  await button(main, `Change Wi-Fi of ${serial}`).waitFor()
})

flow('a device is claimed with its ONU; where its light is not seen is corrected, and its levels are read', async ({ page }) => {
  const serial = await plugged('Device')
  await signIn(page, 'admin', '/pending-devices')
  const main = page.getByRole('main')
  const dialog = dialogOf(page)
  await button(main, `Claim ${serial}`).click()
  await dialog.getByLabel('Set up its ONU, too').check()
  await field(dialog, 'Optical terminal').fill('Hill')
  await field(dialog, 'Port of the terminal').fill('0/1/2')
  await field(dialog, 'Serial number of the ONU').fill('no serial')
  expect(await button(dialog, 'Claim').isDisabled()).toBe(true)
  await field(dialog, 'VLAN of the service').fill('100')
  await button(dialog, 'Claim').click()
  await faultBeside(field(dialog, 'Serial number of the ONU'), /four letters and eight/)
  await field(dialog, 'Serial number of the ONU').fill('lmsm-00000002')
  await expectNoSideways(page)
  await expectNoViolations(page, 'the dialog of the claim')
  await button(dialog, 'Claim').click()
  await page.getByRole('heading', { level: 1, name: serial }).waitFor()
  const setUps = main.getByRole('table', { name: 'Changes' }).getByRole('row', { name: /Set-up of an ONU/ })
  await setUps.first().getByText(/^Failed/).waitFor()
  await main.getByText('Not registered').waitFor()

  await inMenu(page, button(main, 'What can be done with the device'), 'Set up the ONU again')
  expect(await field(dialog, 'Serial number of the ONU').inputValue()).toBe('LMSM00000002')
  await field(dialog, 'Port of the terminal').fill('0/1/1')
  await button(dialog, 'Set up the ONU').dblclick()
  await told(page, /What becomes of it is listed below/)
  await setUps.first().getByText('Done', { exact: true }).waitFor()
  await main.getByText(/dBm, good$/).waitFor()
  await expectNoSideways(page)
  await expectNoViolations(page)
  const { id } = await firstOf(page, `/cpe/devices?q=${serial}`)
  expect((await call(page, 'POST', `/cpe/devices/${id}/release`)).status).toBe(200)
}, phone)

flow('a device is tested, given its factory settings after its serial number is typed, and released', async ({ page }) => {
  await signIn(page, 'admin')
  const device = await claimed(page, 'InternetGatewayDevice')
  const serial = String(device.serialNumber)
  await goTo(page, 'admin', `/devices/${device.id}`)
  const main = page.getByRole('main')
  const menu = button(main, 'What can be done with the device')
  const dialog = dialogOf(page)
  const changes = main.getByRole('table', { name: 'Changes' })
  await inMenu(page, menu, 'Ping')
  await field(dialog, 'Host or address').fill('example.com')
  await button(dialog, 'Begin').click()
  await changes.getByRole('row', { name: /Ping/ }).getByText('Done').waitFor()

  await goTo(page, 'admin', `/devices/${device.id}?view=tests`)
  await main.getByText(/10 of 10 answered/).first().waitFor()

  await goTo(page, 'admin', `/devices/${device.id}`)
  await inMenu(page, menu, 'Factory settings')
  expect(await button(dialog, 'Factory settings').isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill(serial)
  await button(dialog, 'Factory settings').click()
  await changes.getByRole('row', { name: /Factory settings/ }).getByText('Done').waitFor()

  await inMenu(page, menu, 'Release')
  await button(dialog, 'Release').click()
  await told(page, /waits to be claimed/)
  await page.waitForURL(/\/app\/devices$/)
})

flow('support reads devices and changes nothing; on a phone all fits', async ({ page }) => {
  await signIn(page, 'support', '/devices')
  const main = page.getByRole('main')
  await main.getByRole('table', { name: 'Devices' }).waitFor()
  expect(await main.getByRole('link', { name: 'Devices to claim' }).count()).toBe(0)
  await main.getByLabel('State').selectOption('offline')
  await page.waitForURL(/online=false/)
  await main.getByRole('link', { name: 'DEMO000010' }).click()
  await page.getByRole('heading', { level: 1, name: 'DEMO000010' }).waitFor()
  for (const name of ['Change Wi-Fi', 'Restart', 'What can be done with the device']) expect(await button(main, name).count()).toBe(0)
  await expectNoSideways(page)
  await expectNoViolations(page)
}, phone)

flow('the platform gives a device to an organization, and to its customer', async ({ page }) => {
  const serial = await plugged('Device')
  await signIn(page, 'admin')
  const acacia = await firstOf(page, '/subscribers?q=acacia')
  await signIn(page, 'root', '/pending-devices')
  const main = page.getByRole('main')
  await button(main, `Give ${serial} to an organization`).click()
  const dialog = dialogOf(page)
  await pick(page, field(dialog, 'Organization'), 'demo', /Demo Networks/)
  const customer = field(dialog, 'Customer, when known')
  await customer.fill('Acacia House')
  await faultBeside(customer, /no id of a customer/)
  expect(await button(dialog, 'Give to an organization').isDisabled()).toBe(true)
  await customer.fill(`${at.isp}/app/customers/${acacia.id}`)
  await expectNoViolations(page, 'the dialog of the assignment')
  await button(dialog, 'Give to an organization').click()
  await told(page, 'The organization has the device.')
  await expect.poll(() => button(main, `Give ${serial} to an organization`).count()).toBe(0)
  await signIn(page, 'admin')
  const { subscriberId } = await firstOf(page, `/cpe/devices?q=${serial}`)
  expect(subscriberId).toBe(acacia.id)
})

flow('a fault of a device is listed, and gone when it is cleared and its cause is over', async ({ page }) => {
  await signIn(page, 'admin')
  const device = await claimed(page, 'Device')
  const serial = String(device.serialNumber)
  const boxes = (await (await fetch(`${at.devices}/sim/devices`)).json()) as { id: string; serialNumber: string }[]
  const box = `${at.devices}/sim/devices/${encodeURIComponent(boxes.find((d) => d.serialNumber === serial)?.id ?? '')}`
  await simulate('PUT', `${box}/faults`, { fail: { GetParameterValues: '9002' } })
  await simulate('POST', `${box}/inform`, {})
  await goTo(page, 'admin', '/device-faults')
  const main = page.getByRole('main')
  await button(main, `Clear the fault of ${serial}`).first().waitFor()
  await simulate('PUT', `${box}/faults`, {})
  await button(main, `Clear the fault of ${serial}`).first().click()
  await button(dialogOf(page), 'Clear').click()
  await told(page, 'The CPE server has forgotten the fault.')
  await expect.poll(() => button(main, `Clear the fault of ${serial}`).count()).toBe(0)
  await expectNoViolations(page)
})

flow('a customer changes the own Wi-Fi in the portal, and both see what became of it', async ({ page }) => {
  const number = '+254700000001' // pays for Acacia House, which has a device
  await page.goto(`${at.isp}/portal/`)
  await field(page, 'E-mail address or phone').fill(number)
  await button(page, 'Send me a code').click()
  await page.getByLabel('Code', { exact: true }).fill(await codeTo(page, number))
  await button(page, 'Sign in').click()
  await page.getByRole('heading', { level: 1, name: /^Hello, / }).waitFor()
  const { body } = await call<{ data: (Row & { subscriberId: string })[] }>(page, 'GET', '/me/devices')
  const own = body.data.find((d) => d.serialNumber === 'DEMO000001')
  await page.goto(`${at.isp}/portal/?account=${own?.subscriberId}`)
  await page.getByRole('link', { name: 'Change your Wi-Fi' }).click()
  await page.getByRole('heading', { level: 1, name: 'Wi-Fi and devices' }).waitFor()
  await button(page, /^Change Wi-Fi of .*DEMO000001$/).click()
  await field(page, 'Name of the network').fill('Sebuleni')
  await field(page, 'New password').fill('fupi')
  await faultBesideField(page)
  await field(page, 'New password').fill('ndefu-ya-kutosha')
  await expectNoViolations(page)
  await expectNoSideways(page)
  await button(page, 'Change it').dblclick()
  await page.getByRole('status').getByText(/^Your (change of the Wi-Fi of|Wi-Fi was changed)/).waitFor()
  const staff = await visit()
  try {
    await signIn(staff.page, 'support', `/devices/${own?.id}`)
    const changes = staff.page.getByRole('main').getByRole('table', { name: 'Changes' })
    await changes.getByRole('row', { name: /Wi-Fi/ }).first().getByText('Done').waitFor()
  } finally {
    await staff.context.close()
  }
  // Nobody loads the page again: it looks by itself.
  await page.getByText(/^Your Wi-Fi was changed /).waitFor()
}, phone)

/** faultBesideField waits until the form says that a password is too short, and cannot be sent. */
async function faultBesideField(page: Page) {
  await page.getByText('The password needs at least 8 signs.').waitFor()
  expect(await button(page, 'Change it').getAttribute('aria-disabled')).toBe('true')
}

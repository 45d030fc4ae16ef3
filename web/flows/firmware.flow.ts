import { expect } from 'vitest'
import { button, dialogOf, field, told } from './hands'
import { at, call, expectNoViolations, firstOf, flow, type Row, signIn, simulate } from './kit'

flow('a file of firmware is uploaded and sent to the devices of a model, and its page tells when they have it', async ({ page }) => {
  await signIn(page, 'admin')
  const serialNumber = `FIRM${String(Date.now()).slice(-8)}`
  const model = `Box ${serialNumber}`
  await simulate('POST', `${at.devices}/sim/devices`, { serialNumber, model, firmware: '1.0.0' })
  await expect.poll(async () => (await call<{ data: Row[] }>(page, 'GET', `/cpe/pending?serial=${serialNumber}`)).body.data).toHaveLength(1)
  const { id, oui, productClass } = await firstOf(page, `/cpe/pending?serial=${serialNumber}`)
  expect((await call(page, 'POST', `/cpe/pending/${id}/claim`)).status).toBe(200)
  await expect.poll(async () => (await call<Row>(page, 'GET', `/cpe/devices/${id}`)).body.model).toBe(model)

  await page.goto(`${at.isp}/app/firmware`)
  const main = page.getByRole('main')
  await button(main, 'Upload a file').first().click()
  const dialog = dialogOf(page)
  await page.locator('input[type=file]').setInputFiles({ name: `${serialNumber} v2.bin`, mimeType: 'application/octet-stream', buffer: Buffer.from(serialNumber) })
  expect(await field(dialog, 'Name').inputValue()).toBe(`${serialNumber}-v2.bin`)
  await field(dialog, 'Version').fill('2.0.0')
  await field(dialog, 'Maker’s code (OUI)').fill(String(oui))
  await field(dialog, 'Product class').fill(String(productClass))
  await expectNoViolations(page, 'the dialog of the upload')
  await button(dialog, 'Upload a file').click()
  await told(page, 'The file is on the CPE server.')

  await button(main, `Send to devices: ${serialNumber}-v2.bin`).click()
  await dialog.getByRole('combobox', { name: 'Model', exact: true }).fill(model)
  await button(dialog, 'Send to devices').click()
  await page.getByRole('heading', { level: 1, name: `2.0.0 for ${model}` }).waitFor()
  await main.getByRole('status').getByText('Finished').waitFor()
  await main.getByRole('row', { name: new RegExp(serialNumber) }).getByText('Has it').waitFor()
  await expectNoViolations(page)
})

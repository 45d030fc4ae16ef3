import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, signIn } from './kit'

flow('a base of customers is checked, mended by leaving faults out, imported, and all is taken along again', async ({ page }) => {
  await signIn(page, 'admin')
  const plan = await firstOf(page, '/plans')
  const table = [
    'firstName,phone,planCode,username,password,paidUntil',
    `Moved,0711009001,${String(plan.code)},moved1,old-secret,2027-06-01`,
    `Moved,0711009002,${String(plan.code)},moved1,,`,
    'Moved,none,,,,',
  ].join('\n')
  await goTo(page, 'admin', '/imports')
  await page.locator('input[type=file]').setInputFiles({ name: 'base.csv', mimeType: 'text/csv', buffer: Buffer.from(table) })
  await page.getByRole('button', { name: 'Check the file' }).click()
  await page.getByText('1 row can be taken in').waitFor()
  await page.getByText('2 rows have faults').waitFor()
  await page.getByRole('cell', { name: 'is also in row 2' }).waitFor()
  await expectNoViolations(page)
  await page.setViewportSize(phone.viewport)
  await expectNoSideways(page)
  await page.setViewportSize({ width: 1366, height: 768 })

  const file = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save the faults' }).click()
  const saved = await readFile(await (await file).path(), 'utf8')
  expect(saved).toContain('3,username,is also in row 2')
  expect(saved).not.toContain('old-secret')

  await page.getByRole('button', { name: 'Import 1 customer' }).click()
  await page.getByText('Finished: 1 customer was made').waitFor()
  await expectNoViolations(page)
  expect((await firstOf(page, '/subscribers?q=Moved')).firstName).toBe('Moved')

  // The mended file again, as a whole: who is here already is left out.
  const choose = (name: string, text: string) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
  await goTo(page, 'admin', '/imports')
  await choose('mended.csv', `${table.split('\n').slice(0, 2).join('\n')}\nMoved,0711009002,${String(plan.name)},moved2,,\n`)
  await page.getByRole('button', { name: 'Check the file' }).click()
  await page.getByText('1 customer is here already and is left out').waitFor()
  await page.getByRole('button', { name: 'Import 1 customer' }).waitFor()

  await choose('nux.csv', 'id,username,fullname,phonenumber,namebp\n7,c7,Amina Otieno,0711009003,Home\n')
  await page.getByRole('button', { name: 'Check the file' }).click()
  await page.getByRole('alert').getByText('PHPNuxBill').waitFor()
  await expectNoViolations(page)

  await page.getByRole('link', { name: 'Take everything along' }).click()
  await page.getByRole('button', { name: 'Make a copy' }).click()
  await page.getByText('The copy is ready').waitFor()
  await expectNoViolations(page)
  const copy = page.waitForEvent('download')
  await page.getByRole('link', { name: /Save the copy/ }).click()
  const zip = await readFile(await (await copy).path())
  expect(zip.subarray(0, 2).toString()).toBe('PK')
  expect(zip.includes('customers.csv')).toBe(true)
})

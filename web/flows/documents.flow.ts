import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, signIn } from './kit'

/** saved clicks a button and gives the file that the browser saves. */
async function saved(page: Page, name: string | RegExp) {
  const file = page.waitForEvent('download')
  await page.getByRole('button', { name }).first().click()
  const download = await file
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) }
}

// A red square of 2 by 2.
const square = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGM4ISd3Qk6OAUIBAB8mBBG4glMAAAAAAElFTkSuQmCC', 'base64')

flow('an invoice and a statement are saved as PDF, with the logo that the settings show', async ({ page }) => {
  await signIn(page, 'admin')
  const { id, number } = await firstOf(page, '/invoices?state=issued')
  await goTo(page, 'admin', `/invoices/${id}`)
  const before = await saved(page, `Invoice ${String(number)} as PDF`)
  expect(before.name).toBe(`invoice-${String(number)}.pdf`)
  expect(before.content.subarray(0, 5).toString()).toBe('%PDF-')

  await goTo(page, 'admin', '/organization')
  await page.getByText('Documents have no logo yet.').waitFor()
  await page.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: square })
  await page.getByRole('img', { name: 'Logo' }).waitFor()
  await goTo(page, 'admin', '/organization')
  await page.getByRole('img', { name: 'Logo' }).waitFor()
  await expectNoViolations(page)
  await page.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from('none') })
  await page.getByRole('alert').filter({ hasText: 'PNG or JPEG' }).waitFor()

  await goTo(page, 'admin', `/invoices/${id}`)
  const after = await saved(page, `Invoice ${String(number)} as PDF`)
  expect(before.content.includes('/Subtype /Image')).toBe(false)
  expect(after.content.includes('/Subtype /Image')).toBe(true)

  const customer = await firstOf(page, '/subscribers?q=acacia')
  await goTo(page, 'admin', `/customers/${customer.id}?view=statement`)
  const statement = await saved(page, 'Statement as PDF')
  expect(statement.name).toMatch(/^statement-\d{8}-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.pdf$/)
  await page.setViewportSize(phone.viewport)
  await expectNoSideways(page)

  await goTo(page, 'admin', '/organization')
  await page.getByRole('button', { name: 'Remove the logo' }).click()
  await page.getByText('Documents have no logo yet.').waitFor()
  await expectNoSideways(page)
})
